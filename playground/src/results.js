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

export function showTypes(signatures, plain) {
  if (!signatures.length) {
    $("types").replaceChildren(el("p", "quiet", "A definition has a line here as soon as it has a type."));
    return;
  }
  $("types").replaceChildren(el("ul", "signatures", ...signatures.map((each) => signature(each, plain[each.name]))));
}

// The text as on the command line; with `go`, its title is a way to the place.
function problem(each, go) {
  const title = `${each.severity} ${each.code}`;
  const head = go && each.places?.length ? button("link", title, () => go(each.places[0].from)) : el("span", "", title);
  const text = el("pre", "", each.text);
  text.tabIndex = 0;
  text.setAttribute("aria-label", title);
  return el("li", `problem ${each.severity}`, head, text);
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

export const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
