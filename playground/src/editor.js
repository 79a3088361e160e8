// The editor: CodeMirror, with inferred types at the ends of the lines, and marks for a derivation.
// It stands in a shadow root: there its styles are constructed sheets, which a strict policy allows.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, lintKeymap, nextDiagnostic, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, hoverTooltip, keymap, lineNumbers, showTooltip, WidgetType } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { axon } from "../../editors/codemirror/axon.js";
import { announce, el, prose } from "./dom.js";

const LONGEST = 90; // letters of the types at the end of a line

// --- types at the ends of lines ------------------------------------------------------------------

class Types extends WidgetType {
  constructor(text, full) {
    super();
    this.text = text;
    this.full = full;
  }

  eq(other) { return other.text === this.text && other.full === this.full; }

  toDOM() {
    const node = el("span", "cm-types", this.text);
    node.title = this.full;
    node.setAttribute("aria-hidden", "true"); // F2 says them, and they are in the list of types
    return node;
  }

  ignoreEvent() { return true; }
}

const setHints = StateEffect.define();
const setMarks = StateEffect.define();

const said = (hint, text) => (hint.kind === "result" ? `→ ${text}` : hint.name ? `${hint.name} : ${text}` : text);

function atLineEnds(doc, hints) {
  const lines = new Map();
  for (const hint of hints) {
    if (hint.at > doc.length) continue;
    const { number } = doc.lineAt(hint.at);
    lines.set(number, [...(lines.get(number) ?? []), hint]);
  }
  const found = [];
  for (const [number, on] of [...lines].sort((a, b) => a[0] - b[0])) {
    let text = on.map((hint) => said(hint, hint.text)).join(",  ");
    if (text.length > LONGEST) text = `${text.slice(0, LONGEST - 1)}…`;
    const full = on.map((hint) => said(hint, hint.full)).join("\n");
    found.push(Decoration.widget({ widget: new Types(text, full), side: 1 }).range(doc.line(number).to));
  }
  return Decoration.set(found);
}

const hintField = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    let next = value.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(setHints)) next = atLineEnds(transaction.state.doc, effect.value);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const markField = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    if (transaction.docChanged) return Decoration.none;
    for (const effect of transaction.effects) if (effect.is(setMarks)) value = effect.value;
    return value;
  },
  provide: (field) => EditorView.decorations.from(field),
});

// --- what stands at the cursor -------------------------------------------------------------------

function description({ code, text }) {
  const node = el("div", "cm-about");
  if (code) node.append(el("pre", "", code));
  text.split(/```(?:axon)?\n?/).forEach((part, i) => {
    if (!part.trim()) return;
    if (i % 2) node.append(el("pre", "quiet", part.trimEnd()));
    else for (const line of part.trim().split(/\n{2,}/)) { const p = el("p", ""); p.append(prose(line)); node.append(p); }
  });
  return node;
}

const setAbout = StateEffect.define();
const aboutField = StateField.define({
  create: () => null,
  update(value, transaction) {
    if (transaction.docChanged || transaction.selection) value = null;
    for (const effect of transaction.effects) if (effect.is(setAbout)) value = effect.value;
    return value;
  },
  provide: (field) => showTooltip.from(field),
});

// A message: its first line may break, the others show a place.
function told(message) {
  const [first, ...rest] = message.split("\n");
  return el("div", "", el("div", "cm-told", first), rest.length ? el("pre", "", rest.join("\n")) : null);
}

// --- colours -------------------------------------------------------------------------------------

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.atom], color: "var(--word)" },
  { tag: tags.typeName, color: "var(--type)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: tags.special(tags.variableName), color: "var(--number)" },
  { tag: tags.function(tags.variableName), color: "var(--call)" },
  { tag: tags.definition(tags.function(tags.variableName)), fontWeight: "600" },
  { tag: tags.lineComment, color: "var(--quiet)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "14px", color: "var(--ink)", backgroundColor: "var(--card)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.65", fontVariantLigatures: "none" },
  ".cm-content": { padding: "10px 8px 30vh 0", caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--quiet)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--wash)" },
  "&:not(.cm-focused) .cm-activeLine, &:not(.cm-focused) .cm-activeLineGutter": { backgroundColor: "transparent" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--selected)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-wash)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-wash)", outline: "1px solid var(--accent)" },
  ".cm-types": { color: "var(--soft)", display: "inline-block", maxWidth: "100%", paddingLeft: "2.2em", fontSize: "0.9em", fontStyle: "normal", userSelect: "none", cursor: "default" },
  ".cm-mark-here": { backgroundColor: "var(--here)", boxShadow: "0 2px 0 var(--here-line)", borderRadius: "2px 2px 0 0" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "8px", boxShadow: "0 6px 24px rgb(0 0 0 / 22%)", overflow: "hidden" },
  ".cm-tooltip-section:not(:first-child)": { borderTop: "1px solid var(--line)" },
  ".cm-about": { padding: "8px 12px", maxWidth: "min(620px, 86vw)", maxHeight: "46vh", overflow: "auto", font: "13.5px/1.45 var(--sans)" },
  ".cm-about pre": { font: "13px/1.5 var(--mono)", margin: "0 0 6px", whiteSpace: "pre-wrap" },
  ".cm-about p": { margin: "0 0 6px" },
  ".cm-about code": { font: "13px var(--mono)" },
  ".cm-about .quiet": { color: "var(--soft)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-wash)", color: "var(--ink)" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal", marginLeft: "1em" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600", color: "var(--accent)" },
  ".cm-diagnostic": { padding: "8px 12px", borderLeftWidth: "4px", maxWidth: "min(860px, 92vw)" },
  ".cm-told": { font: "600 12.5px/1.5 var(--mono)" },
  ".cm-diagnostic pre": { font: "12.5px/1.5 var(--mono)", margin: "0", overflow: "auto", maxHeight: "40vh" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-panels": { backgroundColor: "var(--wash)", color: "var(--ink)" },
  ".cm-panels input, .cm-panels button": { color: "var(--ink)", background: "var(--card)", border: "1px solid var(--line)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { backgroundColor: "var(--accent-wash)", color: "var(--ink)" },
});

// --- the editor ----------------------------------------------------------------------------------

// `ask` has `hover(at)` and `complete(at)`, which give answers or null; `changed` is called after an edit.
export function makeEditor(parent, { hover, complete, changed, moved }) {
  const root = parent.attachShadow({ mode: "open" });

  async function complement(context) {
    const word = context.matchBefore(/[\w.']+/);
    if (!context.explicit && !word) return null;
    const found = await complete(context.pos);
    if (!found || found.error || found.stopped) return null;
    const kinds = { operator: "function", parameter: "variable", module: "namespace", attribute: "property", field: "property", size: "constant" };
    return {
      from: found.from,
      options: found.options.map(({ label, kind, detail, insert }, i) => ({
        label, type: kinds[kind] ?? kind, detail: detail.length > 60 ? `${detail.slice(0, 59)}…` : detail, apply: insert, boost: -i / 100,
      })),
      filter: true,
    };
  }

  async function sayHere(view) {
    const at = view.state.selection.main.head;
    const found = await hover(at);
    if (!found || found.error || found.stopped) return announce("There is no type here.");
    announce(found.code || found.text);
    view.dispatch({ effects: setAbout.of({ pos: found.from, above: true, create: () => ({ dom: description(found) }) }) });
  }

  // To the next message, and say it.
  function goToNext(view) {
    const went = nextDiagnostic(view);
    const { from, to } = view.state.selection.main;
    let text = "";
    forEachDiagnostic(view.state, (each, start, end) => { if (!text && start === from && end === to) text = each.message; });
    announce(went && text ? text.split("\n")[0] : "No problems.");
    return true;
  }

  const close = (view) => {
    if (!view.state.field(aboutField)) return false;
    view.dispatch({ effects: setAbout.of(null) });
    return true;
  };

  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      extensions: [
        lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(),
        bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(),
        indentUnit.of("  "), axon(), syntaxHighlighting(colours), hintField, markField, aboutField, look, EditorView.lineWrapping,
        autocompletion({ override: [complement], icons: false }),
        hoverTooltip(async (_, at) => {
          const found = await hover(at);
          if (!found || found.error || found.stopped) return null;
          return { pos: found.from, end: found.to, above: true, create: () => ({ dom: description(found) }) };
        }),
        keymap.of([
          { key: "F2", run: (own) => { sayHere(own); return true; } },
          { key: "F8", run: goToNext },
          { key: "Escape", run: close },
          { key: "Tab", run: acceptCompletion }, // else Tab leaves the editor
          ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap,
        ]),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": "Program. Tab leaves the editor", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed();
          else if (update.selectionSet) moved(update.state.selection.main.head);
        }),
      ],
    }),
  });

  const inside = (at) => Math.max(0, Math.min(at, view.state.doc.length));
  const range = (from, to) => [inside(from), Math.max(inside(from), inside(to))];

  return {
    view,
    text: () => view.state.doc.toString(),
    load(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
    },
    hints: (hints) => view.dispatch({ effects: setHints.of(hints) }),
    // Each place of a message is marked: the first as it is severe, the others as what it is about.
    problems(diagnostics) {
      const found = diagnostics.flatMap((each) => each.places.map((place, i) => {
        const [from, to] = range(place.from, place.to);
        const severity = i ? "info" : { note: "info" }[each.severity] ?? each.severity;
        const message = i ? place.text || each.message : each.text;
        return { from, to, severity, message, renderMessage: () => told(message) };
      }));
      view.dispatch(setDiagnostics(view.state, found));
    },
    // Places are [line, column, line, column] in characters, lines from one.
    mark(places, follow = true) {
      const { doc } = view.state;
      const offset = (number, column) => {
        const line = doc.line(Math.max(1, Math.min(number, doc.lines)));
        return Math.min(line.from + Array.from(line.text).slice(0, column).join("").length, line.to);
      };
      const ranges = places.map(([a, b, c, d]) => [offset(a, b), offset(c, d)]).filter(([from, to]) => from < to).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      const marks = Decoration.set(ranges.map(([from, to]) => Decoration.mark({ class: "cm-mark-here" }).range(from, to)), true);
      const effects = [setMarks.of(marks)];
      if (follow && ranges.length) effects.push(EditorView.scrollIntoView(ranges[0][0], { y: "nearest", yMargin: 60 }));
      view.dispatch({ effects });
    },
    go(at) {
      view.dispatch({ selection: { anchor: inside(at) }, scrollIntoView: true });
      view.focus();
    },
  };
}
