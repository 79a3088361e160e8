// The lists beside the editor: types and problems.
import { $, button, el } from "./dom.js";

function conditions(title, lines) {
  return lines.length ? el("p", "conditions", el("b", "", title), lines.join(", ")) : null;
}

function signature({ name, signature, where, guards }, plain) {
  const line = el("div", "signature", el("span", "name", name), el("span", "quiet", " : "), signature);
  return el("li", "", line, conditions("where ", where), conditions("checked at the run: ", guards),
    plain ? el("p", "conditions", el("b", "", "read plainly: "), plain) : null);
}

function untyped(name) {
  return el("li", "", el("div", "signature", el("span", "name", name), el("span", "quiet", " : no type, see Problems")));
}

// `names` are all that is defined: one without a type has a line that says so.
export function showTypes(signatures, plain, names = []) {
  const typed = new Set(signatures.map((each) => each.name));
  const others = names.filter((name) => !typed.has(name));
  if (!signatures.length && !others.length) {
    $("types").replaceChildren(el("p", "quiet", "A definition has a line here as soon as it has a type."));
    return;
  }
  $("types").replaceChildren(el("ul", "signatures", ...signatures.map((each) => signature(each, plain[each.name])), ...others.map(untyped)));
}

// The text as on the command line: its first line may break, and with `go` it is a way to the place.
function problem(each, go) {
  const [first, ...rest] = each.text.split("\n");
  const head = go && each.places?.length ? button("link", first, () => go(each.places[0].from)) : el("div", "head", first);
  const text = el("pre", "", rest.join("\n"));
  text.tabIndex = 0;
  text.setAttribute("aria-label", `Places of ${each.code}`);
  text.setAttribute("role", "region");
  return el("li", `problem ${each.severity}`, head, rest.length ? text : null);
}

export function showProblems(diagnostics, go) {
  const errors = diagnostics.filter((each) => each.severity === "error").length;
  const count = $("count-problems");
  count.hidden = !diagnostics.length;
  count.textContent = String(diagnostics.length);
  count.classList.toggle("bad", errors > 0);
  $("problems").replaceChildren(diagnostics.length
    ? el("ul", "problems", ...diagnostics.map((each) => problem(each, go)))
    : el("p", "quiet", "No problems."));
}

export const counted = (n, word, words = `${word}s`) => `${n} ${n === 1 ? word : words}`;
