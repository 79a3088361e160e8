// Axon for CodeMirror 6. {{note}}
import { LanguageSupport, StreamLanguage } from "@codemirror/language";

// At each place the first pattern that matches gives the next token.
const RULES = [
{{rules}},
];

const BLANKS = /[ \t\r\f\v]+/y;

function eat(stream, pattern) {
  pattern.lastIndex = stream.pos;
  const found = pattern.exec(stream.string);
  if (found) stream.pos = pattern.lastIndex;
  return found !== null;
}

export const axonLanguage = StreamLanguage.define({
  name: "axon",
  startState: () => ({ depth: 0 }),
  copyState: (state) => ({ depth: state.depth }),
  token(stream, state) {
    if (eat(stream, BLANKS)) return null;
    for (const [tag, pattern] of RULES) {
      const start = stream.pos;
      if (!eat(stream, pattern)) continue;
      if (tag === "punctuation") {
        const sign = stream.string[start];
        if ("([{".includes(sign)) state.depth += 1;
        if (")]}".includes(sign) && state.depth) state.depth -= 1;
      }
      return tag;
    }
    stream.next();
    return "invalid";
  },
  indent(state, textAfter, context) {
    const closes = /^\s*[)\]}]/.test(textAfter) ? 1 : 0;
    return Math.max(0, state.depth - closes) * context.unit;
  },
  languageData: {
    commentTokens: { line: "#" },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
    indentOnInput: /^\s*[)\]}]$/,
    wordChars: "'",
  },
});

// The words that mean something, for completion without a server.
export const axonWords = {{words}};

export function axon() {
  return new LanguageSupport(axonLanguage);
}
