// What a grammar makes of programs: node pieces.mjs textmate|codemirror < [text, …]
// Prints, for each text, its pieces in order as [name, text]; the name is the grammar's own.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const editors = join(import.meta.dirname, "..");

async function textmate() {
  const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");
  const oniguruma = require("vscode-oniguruma");
  const wasm = require.resolve("vscode-oniguruma").replace(/main\.js$/, "onig.wasm");
  await oniguruma.loadWASM(readFileSync(wasm).buffer);
  const path = join(editors, "vscode/syntaxes/axon.tmLanguage.json");
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(readFileSync(path, "utf8"), path),
  });
  const grammar = await registry.loadGrammar("source.axon");
  return (text) => {
    const pieces = [];
    let stack = INITIAL;
    text.split("\n").forEach((line, number) => {
      if (number) pieces.push(["", "\n"]);
      const read = grammar.tokenizeLine(line, stack);
      stack = read.ruleStack;
      for (const { startIndex, endIndex, scopes } of read.tokens) {
        const name = scopes.length > 1 ? scopes.at(-1) : "";
        pieces.push([name, line.slice(startIndex, endIndex)]);
      }
    });
    return pieces;
  };
}

async function codemirror() {
  const { tags, tagHighlighter, highlightTree } = await import("@lezer/highlight");
  const { axonLanguage } = await import(join(editors, "codemirror/axon.js"));
  const names = process.argv.slice(3);
  const highlighter = tagHighlighter(
    names.map((name) => {
      const [base, ...modifiers] = name.split(".");
      const tag = modifiers.reduce((made, modifier) => tags[modifier](made), tags[base]);
      return { tag, class: name };
    }),
  );
  return (text) => {
    const pieces = [];
    let end = 0;
    highlightTree(axonLanguage.parser.parse(text), highlighter, (from, to, name) => {
      if (from > end) pieces.push(["", text.slice(end, from)]);
      pieces.push([name, text.slice(from, to)]);
      end = to;
    });
    if (end < text.length) pieces.push(["", text.slice(end)]);
    return pieces;
  };
}

const pieces = await { textmate, codemirror }[process.argv[2]]();
const texts = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map(pieces)));
