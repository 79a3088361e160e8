// A derivation, one step after the other. The data is that of `axon explain --html`.
import { $, announce, button, el, prose } from "./dom.js";

let data = null, definition = null, at = 0, mark = () => {};

// The set after `step` steps: key -> {known, text}; null where it was left out.
function setAfter(step) {
  if (step > definition.sets) return null;
  const lines = new Map(definition.constraints.map(([key, text]) => [key, { known: 0, text }]));
  for (const { gone, set } of definition.steps.slice(0, step)) {
    for (const key of gone) lines.delete(key);
    for (const [key, known, text] of set) lines.set(key, { known, text });
  }
  return lines;
}

function sets(step) {
  const after = setAfter(at), before = setAfter(at - 1);
  if (after === null || before === null) return el("p", "quiet", "The sets are left out from here on: there are too many.");
  const known = [], open = [];
  const line = (key, className, text, was) => {
    const word = { new: "new: ", moved: "rewritten: ", gone: "gone: " }[className];
    return el("li", `${className}${key === step.subject ? " subject" : ""}`, word ? el("span", "unseen", word) : null,
      definition.texts[text], was === undefined ? null : el("span", "was", el("span", "unseen", "was "), definition.texts[was]));
  };
  for (const [key, { known: isKnown, text }] of after) {
    const old = before.get(key);
    const rewritten = old && old.text !== text;
    (isKnown ? known : open).push([key, line(key, old ? (rewritten ? "moved" : "") : "new", text, rewritten ? old.text : undefined)]);
  }
  for (const [key, { known: isKnown, text }] of before)
    if (!after.has(key)) (isKnown ? known : open).push([key, line(key, "gone", text)]);
  const list = (title, items, none) => {
    items.sort((a, b) => a[0] - b[0]);
    return el("div", "", el("h3", "", title), el("ul", "lines", ...(items.length ? items.map(([, item]) => item) : [el("li", "none", none)])));
  };
  return el("div", "sets", list("Still to solve", open, "nothing"), list("Known", known, "nothing yet"));
}

const placesOf = (origins) => origins.map((i) => data.origins[i].place).filter((place) => place !== null).map((place) => data.places[place]);

function origins(numbers) {
  return el("ul", "places", ...numbers.map((i) => {
    const { text, place } = data.origins[i];
    if (place === null) return el("li", "", prose(text));
    return el("li", "", button("link", prose(text), () => mark([data.places[place]])));
  }));
}

function start() {
  const { constraints, steps, total, texts } = definition;
  const rows = constraints.map(([, text, origin]) => el("tr", "", el("td", "mono", texts[text]), el("td", "", origin === null ? "" : origins([origin]))));
  return [
    el("h2", "", "The constraints"),
    el("p", "quiet", total ? `What the definition asks for, and where. ${total === 1 ? "One step solves" : `${total} steps solve`} them.` : "There is nothing to solve."),
    steps.length < total ? el("p", "quiet", `This page has room for ${steps.length || "none"} of them.`) : null,
    rows.length ? el("table", "table", el("tbody", "", ...rows)) : null,
  ];
}

function stepCard() {
  const step = definition.steps[at - 1];
  const conflict = definition.conflict !== null && at === definition.total;
  return [
    el("h2", conflict ? "bad" : "", conflict ? "A contradiction" : step.rule),
    el("p", "quiet", conflict ? `${definition.conflict.core.length} places disagree: no sizes satisfy all of them.` : data.laws[step.rule] ?? ""),
    el("p", "about", definition.texts[conflict ? definition.conflict.clash : step.about]),
    origins(conflict ? definition.conflict.core : step.from),
    sets(step),
    at === definition.total && !conflict && definition.signature ? el("p", "solved", "Solved: ", el("code", "", `${definition.name} : ${definition.signature}`)) : null,
  ];
}

function draw(spoken) {
  const most = definition.steps.length;
  $("step").replaceChildren(...(at ? stepCard() : start()).filter(Boolean));
  $("steps").hidden = most === 0;
  $("step-slider").max = String(most);
  $("step-slider").value = String(at);
  $("step-slider").setAttribute("aria-valuetext", at ? `step ${at} of ${most}` : "the constraints");
  $("step-count").textContent = `${at} of ${most}`;
  $("step-first").disabled = $("step-back").disabled = at === 0;
  $("step-last").disabled = $("step-next").disabled = at === most;
  const step = definition.steps[at - 1];
  const conflict = definition.conflict !== null && at === definition.total;
  mark(at ? placesOf(conflict ? definition.conflict.core : step.from) : []);
  if (spoken && at) announce(`Step ${at} of ${most}: ${step.rule}. ${definition.texts[step.about]}`);
}

function go(to) {
  if (!definition) return;
  const next = Math.max(0, Math.min(to, definition.steps.length));
  if (next === at) return;
  at = next;
  draw(true);
}

export function showDerivation(answer, marking) {
  const same = definition && answer.definitions[0]?.name === definition.name;
  data = answer;
  mark = marking;
  definition = answer.definitions[0];
  at = same ? Math.min(at, definition.steps.length) : 0;
  draw(false);
}

export function noDerivation(text) {
  definition = null;
  $("steps").hidden = true;
  $("step").replaceChildren(el("p", "quiet", text));
}

// Where a graph's place comes into the derivation.
export function stepsAt(place) {
  if (!definition) return [];
  return definition.steps.flatMap((step, i) => {
    const about = placesOf(step.from).some(([a, b, c, d]) => a === place[0] && b === place[1] && c === place[2] && d === place[3]);
    return about ? [{ number: i + 1, rule: step.rule, about: definition.texts[step.about] }] : [];
  });
}

export { go as goToStep };

export function wireSteps() {
  $("step-first").addEventListener("click", () => go(0));
  $("step-back").addEventListener("click", () => go(at - 1));
  $("step-next").addEventListener("click", () => go(at + 1));
  $("step-last").addEventListener("click", () => go(Infinity));
  $("step-slider").addEventListener("input", (event) => go(Number(event.target.value)));
  $("derivation").addEventListener("keydown", (event) => {
    if (event.target.closest("input") || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: Infinity }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
}
