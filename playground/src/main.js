// The page: what is edited, what is shown beside it, and what is asked when.
/* global Graph */
import { Checker, SECONDS } from "./checker.js";
import { goToStep, noDerivation, showDerivation, stepsAt, wireSteps } from "./derivation.js";
import { $, announce, button, el, meta } from "./dom.js";
import { makeEditor } from "./editor.js";
import { counted, showProblems, showTypes } from "./results.js";
import { madeUp, wireRun } from "./run.js";
import * as share from "./share.js";

const PAUSE_MS = 150, KEPT = "axon-program", LARGEST_MODEL = 256 << 20;
const TABS = ["types", "derivation", "graph", "problems", "run"];
const served = meta("axon-token") !== "";

let tab = "types";
let name = "program.axon"; // of the file that is edited
let checked = null; // the last answer about the program, and the text that it is about
let model = null; // a model of ONNX or PyTorch that is shown instead of the program
let shown = {}; // of each tab: what it shows now
let stoppedAt = null; // the text that took too long
let timer = null;

const checker = new Checker(meta("axon-checker"), meta("axon-token"), (state, text) => {
  $("state").dataset.state = state;
  $("state").textContent = text;
  if (state === "failed") notice(text, ["Try again", () => location.reload()]);
});

// What took too long once is not asked again, until it is changed.
async function ask(kind, more = {}) {
  const text = editor.text();
  return text === stoppedAt ? { stopped: true } : checker.ask({ kind, name, text, ...more }, kind);
}

const editor = makeEditor($("editor"), {
  hover: (at) => ask("hover", { at }),
  complete: (at) => ask("complete", { at }),
  changed: () => { if (model) closeModel(); schedule(); sayPlace(); },
  moved: sayPlace,
});

// --- checking ------------------------------------------------------------------------------------

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE_MS);
  keep();
}

async function check() {
  const text = editor.text();
  if (text === stoppedAt) return;
  const answer = await ask("check");
  if (answer === null) return; // a newer one is asked
  if (answer.stopped) {
    stoppedAt = text;
    return notice(`Checking took longer than ${SECONDS} seconds and was stopped. Change the program, and it is checked again.`, ["Check again", () => { stoppedAt = null; hideNotice(); check(); }]);
  }
  if (answer.error) return notice(answer.bug ? `${answer.error} Please report it with the program.\n\n${answer.bug}` : answer.error);
  hideNotice();
  if (editor.text() !== text) return;
  checked = { ...answer, text, plain: checked?.plain ?? {} };
  editor.hints(answer.hints);
  editor.problems(answer.diagnostics);
  const errors = answer.diagnostics.filter((each) => each.severity === "error").length;
  if (errors !== check.errors) announce(errors ? counted(errors, "error") : "No errors");
  check.errors = errors;
  document.body.dataset.checked = String(Number(document.body.dataset.checked ?? 0) + 1);
  chooseDefinitions(answer.names);
  shown = {};
  if (!model) showTab();
}
check.errors = 0;

function chooseDefinitions(names) {
  const select = $("definition"), before = select.value;
  if ([...select.options].map((each) => each.value).join() !== names.join())
    select.replaceChildren(...names.map((each) => new Option(each, each)));
  select.value = names.includes(before) ? before : names.at(-1) ?? "";
}

// --- what is beside the program ------------------------------------------------------------------

function openTab(next, focus = false) {
  tab = next;
  for (const each of TABS) {
    const own = $(`tab-${each}`), selected = each === tab;
    own.setAttribute("aria-selected", String(selected));
    own.tabIndex = selected ? 0 : -1;
    if (selected && focus) own.focus();
    $(each).hidden = !selected;
  }
  showTab();
}

function showTab() {
  if (tab !== "derivation") editor.mark([]);
  $("chooser").hidden = Boolean(model) || !["derivation", "graph", "run"].includes(tab) || !$("definition").options.length;
  if (model) return showModel();
  if (!checked) return;
  showProblems(checked.diagnostics, (at) => editor.go(at)); // however many there are, every tab says so
  ({ types, derivation, graph, run })[tab]?.();
}

// Ask once for what a tab shows, and show it unless something else is to be shown by then.
async function once(kind, key, more, show) {
  if (shown[kind] === key) return;
  shown[kind] = key;
  const before = checked;
  const answer = await ask(kind, more);
  if (answer === null || checked !== before || shown[kind] !== key) return;
  if (answer.stopped) show({ error: `This took longer than ${SECONDS} seconds and was stopped.` });
  else show(answer);
}

function types() {
  showTypes(checked.signatures, checked.plain, checked.names);
  const own = checked;
  once("plain", "plain", {}, (answer) => {
    if (answer.error) return;
    own.plain = answer.plain;
    if (checked === own && tab === "types" && !model) showTypes(own.signatures, own.plain, own.names);
  });
}

function derivation() {
  const definition = $("definition").value;
  if (!definition) return noDerivation("A definition has a derivation here as soon as it can be read.");
  askDerivation(definition);
}

function askDerivation(definition) {
  once("derivation", definition, { definition }, (answer) => {
    if (answer.error) noDerivation(answer.error);
    else showDerivation(answer, (places) => { if (tab === "derivation") editor.mark(places); });
  });
}

function graph() {
  const definition = $("definition").value;
  if (!definition) return noGraph("A definition has a graph here as soon as it can be read.");
  askDerivation(definition); // for the steps that lead to a box
  once("graph", definition, { definition }, (answer) => {
    if (answer.error) return noGraph(answer.error);
    drawGraph(answer, {
      line: (place) => (place >= 0 ? answer.places[place][0] : null),
      stepsAt: (place) => (place >= 0 ? stepsAt(answer.places[place]) : []),
      go: (step) => { openTab("derivation"); goToStep(step); },
    });
  });
}

function noGraph(text) {
  $("graph-said").textContent = text;
  $("graph-bar").hidden = true;
  document.querySelector("#graph .pane").hidden = true;
}

const sheet = new CSSStyleSheet();
let styles = null;
document.adoptedStyleSheets = [sheet];

function drawGraph(answer, hooks) {
  styles = answer.styles;
  sheet.replaceSync(styles[dark()]);
  $("graph-bar").hidden = false;
  document.querySelector("#graph .pane").hidden = false;
  const { boxes, edges } = answer.graph.drawings[0];
  $("graph-said").textContent = `${counted(boxes.length, "box", "boxes")}, ${counted(edges.length, "edge")}`;
  Graph.show(answer.graph, hooks);
}

function run() {
  const definition = $("definition").value;
  const signature = checked.signatures.find((each) => each.name === definition);
  $("run-name").textContent = definition;
  const params = signature?.params ?? [];
  const key = `${definition} ${JSON.stringify(params)}`;
  if (shown.run !== key && $("arguments").dataset.for !== key) {
    $("arguments").value = madeUp(params);
    $("arguments").rows = Math.max(2, Math.min(params.length, 12));
    $("arguments").dataset.for = key;
  }
  shown.run = key;
}

// --- a model -------------------------------------------------------------------------------------

async function openModel(file) {
  if (file.size > LARGEST_MODEL) return notice(`${file.name} is larger than 256 MB.`);
  const data = new Uint8Array(await file.arrayBuffer());
  notice(`Reading ${file.name}…`);
  const answer = await checker.ask({ kind: "model", name: file.name, data }, "model");
  if (answer === null) return;
  if (answer.stopped) return notice(`Inferring ${file.name} took longer than ${SECONDS} seconds and was stopped.`);
  if (answer.error) return notice(answer.bug ? `${answer.error}\n\n${answer.bug}` : answer.error);
  hideNotice();
  model = answer;
  $("model").hidden = false;
  $("model-text").textContent = `Showing ${answer.name}, ${counted(answer.nodes, "node")}. It was inferred on this machine.`;
  announce(`${answer.name}: ${answer.signature || counted(answer.diagnostics.length, "problem")}`);
  openTab(answer.diagnostics.length ? "problems" : "types");
}

function closeModel() {
  model = null;
  shown = {};
  $("model").hidden = true;
  showTab();
}

function showModel() {
  showProblems(model.diagnostics, null);
  showTypes(model.signature ? [{ ...model, name: "model" }] : [], {});
  if (!model.signature) $("types").replaceChildren(el("p", "quiet", "The model has no type: it contradicts itself."));
  noDerivation("A model has no derivation here; its problems say where they come from.");
  if (tab === "graph") {
    if (model.graph) drawGraph(model, { line: () => null, stepsAt: () => [], go: () => {} });
    else noGraph("The graph is too large for this page.");
  }
}

// --- opening and sharing -------------------------------------------------------------------------

function load(text, file = "program.axon") {
  if (model) closeModel();
  name = file;
  checked = null;
  editor.load(text);
  clearTimeout(timer);
  check();
}

async function open(file) {
  if (/\.(onnx|pt2)$/i.test(file.name)) return openModel(file);
  if (file.size > 1_000_000) return notice(`${file.name} is larger than 1 MB.`);
  load(await file.text(), file.name);
}

let examples = [];
async function start() {
  openTab("types");
  try {
    examples = await (await fetch("examples.json")).json();
  } catch {
    notice("The examples did not load.");
  }
  const groups = new Map();
  for (const each of examples) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
  for (const [group, list] of groups) {
    const node = document.createElement("optgroup");
    node.label = group;
    node.append(...list.map((each) => new Option(each.title, each.name)));
    $("examples").append(node);
  }
  const models = document.createElement("optgroup");
  models.label = "Models";
  models.append(
    new Option("An encoder (ONNX)", "encoder.onnx"),
    new Option("A model with a mistake (ONNX)", "broken.onnx"),
    new Option("An encoder (PyTorch)", "encoder.pt2"),
  );
  $("examples").append(models);
  checker.give(Object.fromEntries(examples.map((each) => [each.name, each.text])));
  if (!await openLink()) {
    const kept = remembered();
    const first = examples[0];
    load(kept?.text ?? first?.text ?? "", kept?.name ?? first?.name);
  }
  document.body.dataset.ready = "yes";
}

async function chooseExample(wanted) {
  if (/\.(onnx|pt2)$/.test(wanted)) {
    const found = await fetch(wanted);
    return openModel(new File([await found.blob()], wanted));
  }
  const found = examples.find((each) => each.name === wanted);
  if (found) load(found.text, found.name);
  return Boolean(found);
}

async function openLink() {
  const [, kind, carried] = /^#(p|example)=(.*)$/.exec(location.hash) ?? [];
  if (!kind) return false;
  if (kind === "example") return chooseExample(decodeURIComponent(carried));
  try {
    load(await share.read(carried));
    return true;
  } catch (problem) {
    notice(problem.message);
    return false;
  }
}

async function shareLink() {
  const link = `${location.href.split("#")[0]}#p=${await share.written(editor.text())}`;
  history.replaceState(null, "", link);
  let said = "The link is in the address bar.";
  try {
    await navigator.clipboard.writeText(link);
    said = "The link was copied.";
  } catch { /* without permission it stays in the address bar */ }
  notice(link.length > 8000 ? `${said} It is long: some programs cut links off.` : said, null, true);
}

function keep() {
  try { localStorage.setItem(KEPT, JSON.stringify({ name, text: editor.text() })); } catch { /* nothing is kept then */ }
}

function remembered() {
  try { return JSON.parse(localStorage.getItem(KEPT)); } catch { return null; }
}

// --- messages, colours, keys ---------------------------------------------------------------------

let passing = null;
function notice(text, action = null, brief = false) {
  clearTimeout(passing);
  $("notice-text").textContent = text;
  $("notice-buttons").replaceChildren(...(action ? [button("", action[0], action[1])] : []), button("", "Close", hideNotice));
  $("notice").hidden = false;
  announce(text.split("\n")[0]);
  if (brief) passing = setTimeout(hideNotice, 6000);
}

function hideNotice() {
  $("notice").hidden = true;
}

function sayPlace() {
  const { state } = editor.view, head = state.selection.main.head, line = state.doc.lineAt(head);
  $("place").textContent = `line ${line.number}, column ${head - line.from + 1}`;
}

const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => ({ dark: "dark", light: "light" }[document.documentElement.dataset.theme] ?? (system.matches ? "dark" : "light"));

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const [short, long] = { dark: ["dark", "dark colours"], light: ["light", "light colours"] }[theme] ?? ["auto", "the colours that the system prefers"];
  $("theme-name").textContent = short;
  $("theme").title = `The page has ${long}`;
  try { localStorage.setItem("axon-theme", theme); } catch { /* as before next time */ }
  redraw();
}

function redraw() {
  if (styles) sheet.replaceSync(styles[dark()]);
}

function wire() {
  for (const each of TABS) $(`tab-${each}`).addEventListener("click", () => openTab(each));
  document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const there = TABS.filter((each) => !$(`tab-${each}`).hidden);
    const at = there.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: there.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    openTab(there[(to + there.length) % there.length], true);
  });
  $("tab-run").hidden = !served;
  $("definition").addEventListener("change", showTab);
  $("examples").addEventListener("change", (event) => {
    const wanted = event.target.value;
    event.target.value = "";
    if (wanted) { history.replaceState(null, "", location.pathname + location.search); chooseExample(wanted); }
  });
  $("open").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) open(file);
  });
  $("share").addEventListener("click", shareLink);
  $("model-close").addEventListener("click", closeModel);
  $("theme").addEventListener("click", () => {
    const order = ["", "dark", "light"];
    setTheme(order[(order.indexOf(document.documentElement.dataset.theme ?? "") + 1) % 3]);
  });
  system.addEventListener("change", redraw);
  addEventListener("hashchange", openLink);
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $(`tab-${tab}`).focus(); });
  document.addEventListener("keydown", (event) => { if (tab === "graph" && $("graph").contains(event.target)) Graph.key(event); });

  let over = 0;
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragenter", (event) => { if (carries(event)) { over += 1; $("drop").hidden = false; } });
  document.addEventListener("dragleave", (event) => { if (carries(event) && --over <= 0) { over = 0; $("drop").hidden = true; } });
  document.addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); }, true);
  document.addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    event.stopPropagation();
    over = 0;
    $("drop").hidden = true;
    const [file] = event.dataTransfer.files;
    if (file) open(file);
  }, true);
}

wire();
wireSteps();
wireRun(() => ({ name, text: editor.text() }), () => $("definition").value);
try { setTheme(localStorage.getItem("axon-theme") ?? ""); } catch { setTheme(""); }
start();
