// Running a definition, where `axon play` serves the page.
import { $, announce, meta } from "./dom.js";

// Arrays made up for the parameters: a size of one name is the same number everywhere.
export function madeUp(params) {
  const sizes = new Map();
  const number = (size) => {
    if (/^\d+$/.test(size)) return size;
    if (!/^[A-Za-z_]\w*'*$/.test(size)) return null;
    if (!sizes.has(size)) sizes.set(size, String(2 + (sizes.size % 6)));
    return sizes.get(size);
  };
  return params.map(([name, type]) => {
    const found = /^(\w+'*) (?:\[([^[\]()]*)\]|(\w+'*))$/.exec(type.replace(/\w+'*@/g, ""));
    if (!found) return `${name}=`;
    const given = (found[2] ?? "").split(",").map((size) => size.trim()).filter(Boolean).map(number);
    if (given.includes(null)) return `${name}=`;
    return `${name}=${/^[iu]\d|^bool/.test(found[1]) ? "zeros" : "rand"}[${given.join(",")}]`;
  }).join("\n");
}

export function wireRun(program, definition) {
  $("run-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const go = $("run-go"), result = $("run-result");
    go.disabled = true;
    result.hidden = false;
    result.textContent = "Running…";
    const headers = { "X-Axon-Token": meta("axon-token"), "Content-Type": "application/json" };
    const body = JSON.stringify({ ...program(), definition: definition(), arguments: $("arguments").value.split("\n").map((line) => line.trim()).filter(Boolean) });
    try {
      const found = await (await fetch("api/run", { method: "POST", headers, body })).json();
      result.textContent = found.error ?? found.output;
      result.classList.toggle("bad", Boolean(found.error) || found.status !== 0);
    } catch {
      result.textContent = "`axon play` does not answer: is it still running?";
    }
    go.disabled = false;
    announce(result.textContent.slice(0, 400));
  });
}
