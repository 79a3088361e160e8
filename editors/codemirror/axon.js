// Axon for CodeMirror 6. Made by scripts/grammars.py from src/axon/highlight/lexicon.py; change those instead.
import { LanguageSupport, StreamLanguage } from "@codemirror/language";

// At each place the first pattern that matches gives the next token.
const RULES = [
  ["lineComment", /\#[^\n]*/y],
  ["string", /"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"/y],
  ["invalid", /"[^\n]*/y],
  ["keyword", /import(?![A-Za-z0-9_'])(?=[ \t]*\")/y],
  ["keyword", /(?:op|as)(?![A-Za-z0-9_'])(?=[ \t]+[A-Za-z_])/y],
  ["keyword", /where(?![A-Za-z0-9_'])(?:(?=[ \t]+(?!(?:where|and|or|mod|as)(?![A-Za-z0-9_']))[A-Za-z_0-9?\[(])|(?=[ \t\r]*(?:#[^\n]*)?$))/y],
  ["operatorKeyword", /(?:mod)(?![A-Za-z0-9_'])(?=[ \t]+(?!(?:where|and|or|mod|as)(?![A-Za-z0-9_']))[A-Za-z_0-9?\[(])/y],
  ["typeName", /(?:dim|shape)(?![A-Za-z0-9_'])(?=[ \t]+(?!(?:where|and|or|mod|as)(?![A-Za-z0-9_']))[A-Za-z_0-9?\[(])/y],
  ["keyword", /(?:else|fn|if|type)(?![A-Za-z0-9_'])/y],
  ["atom", /(?:None|false|inf|true)(?![A-Za-z0-9_'])/y],
  ["operatorKeyword", /(?:and|not|or)(?![A-Za-z0-9_'])/y],
  ["typeName", /(?:bf16|bool|f16|f32|f64|i16|i32|i64|i8|u16|u32|u64|u8)(?![A-Za-z0-9_'])/y],
  ["variableName.function.definition", /[A-Za-z_][A-Za-z0-9_]*'*(?![A-Za-z0-9_'])(?=[ \t]*=[ \t]*fn(?![A-Za-z0-9_']))/y],
  ["variableName.function", /[A-Za-z_][A-Za-z0-9_]*'*(?![A-Za-z0-9_'])(?=\()/y],
  ["variableName", /[A-Za-z_][A-Za-z0-9_]*'*/y],
  ["propertyName", /\.[A-Za-z_][A-Za-z0-9_]*'*/y],
  ["punctuation", /[\(\),:;\[\]\{\}]/y],
  ["operator", /\.\.\.|->|\|>|\/\/|\*\*|[=!<>]=|[-+*\/%@<>=(),;:|\[\]{}]/y],
  ["number", /(?:[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?f?(?![A-Za-z0-9_.])|[0-9]+(?![A-Za-z0-9_.]))/y],
  ["invalid", /\.?[0-9][A-Za-z0-9_.]*/y],
  ["variableName.special", /\?[A-Za-z_][A-Za-z0-9_]*'*/y],
  ["string", /(?<![A-Za-z0-9_'])['‘’“”„][^'‘’“”„"\n]*['‘’“”"]/y],
  ["invalid", /[^ \t\r\f\v\nA-Za-z0-9_\#"\-+*\/%@<>=(),;:|\[\]{}]+/y],
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
export const axonWords = ["None", "and", "as", "bf16", "bool", "dim", "else", "f16", "f32", "f64", "false", "fn", "i16", "i32", "i64", "i8", "if", "import", "inf", "mod", "not", "op", "or", "shape", "true", "type", "u16", "u32", "u64", "u8", "where"];

export function axon() {
  return new LanguageSupport(axonLanguage);
}
