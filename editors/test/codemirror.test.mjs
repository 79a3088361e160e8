// What CodeMirror does with the language apart from colours: indentation, comments, brackets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { getIndentation, indentUnit } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { axon, axonWords } from "../codemirror/axon.js";

const opened = (doc) => EditorState.create({ doc, extensions: [axon(), indentUnit.of("  ")] });

test("a line is indented by the brackets that are open before it", () => {
  const text = ["f = fn (", "x,", ") {", 'y = g(x, mode="{");', "# a ( comment", "y", "};", "z = 1"];
  const state = opened(text.join("\n"));
  const columns = text.map((_, number) => getIndentation(state, state.doc.line(number + 1).from));
  assert.deepEqual(columns, [0, 2, 0, 2, 2, 2, 0, 0]);
});

test("comments, brackets and words", () => {
  const state = opened("x'");
  assert.deepEqual(state.languageDataAt("commentTokens", 0), [{ line: "#" }]);
  assert.deepEqual(state.wordAt(1).to, 2);
  assert.ok(state.languageDataAt("closeBrackets", 0)[0].brackets.includes("{"));
  assert.ok(axonWords.includes("where") && axonWords.includes("fn"));
});
