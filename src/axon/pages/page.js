"use strict";
// Everything that comes from the program is written with textContent; there is no innerHTML here.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const PLAY_MS = 1300;

  let definition = null; // the one that is shown
  let at = 0; // 0: the constraints; n: after step n
  let timer = null;
  const opened = new Set(); // the lists that the reader has unfolded

  function el(tag, className, ...children) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  function button(className, text, action) {
    const node = el("button", className, text);
    node.type = "button";
    node.addEventListener("click", action);
    return node;
  }

  // A sentence, with what stands in backquotes as code.
  function prose(text) {
    const out = document.createDocumentFragment();
    text.split("`").forEach((part, i, all) => {
      if (i % 2 && i + 1 < all.length) out.append(el("code", "", part));
      else out.append(i % 2 ? `\`${part}` : part);
    });
    return out;
  }

  // --- variables -------------------------------------------------------------------------------

  const WORD = /\??[A-Za-z_][A-Za-z0-9_]*'*/g;

  // A text with its variables marked; `names` says what each is called in the derivation.
  function formula(text, names = definition.names) {
    const out = document.createDocumentFragment();
    let end = 0;
    for (const found of text.matchAll(WORD)) {
      const name = found[0].replace("?", "");
      const after = text[found.index + found[0].length];
      if (!names.has(name) || after === "(" || name === "mod") continue;
      out.append(text.slice(end, found.index), variable(found[0], names.get(name)));
      end = found.index + found[0].length;
    }
    out.append(text.slice(end));
    return out;
  }

  function variable(text, name) {
    const solved = definition.solved.get(name);
    // not a <button>, which a line could break around
    const node = el("span", solved ? "v" : "v open", text);
    node.tabIndex = 0;
    if (solved && solved.step > 0) {
      node.setAttribute("role", "button");
      node.addEventListener("click", () => go(solved.step));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        go(solved.step);
      });
    }
    node.dataset.name = name ?? "";
    node.dataset.text = text;
    return node;
  }

  function tipFor(node) {
    const name = node.dataset.name;
    const solved = definition.solved.get(name);
    const out = document.createDocumentFragment();
    if (!solved) {
      out.append(el("div", "value", node.dataset.text));
      let text = "Nothing decides it.";
      if (definition.steps.length < definition.total) text = "No step on this page decides it.";
      else if (definition.ok) text = "Nothing decides it: it may be anything, and the signature holds for all of it.";
      if (definition.elements.has(node.dataset.text) && !name) text = "An element type, or a size that no constraint mentions: it may be anything.";
      out.append(el("div", "quiet", text));
      if (name && name !== node.dataset.text.replace("?", ""))
        out.append(el("div", "quiet", "In the derivation it is called ", el("code", "", name), "."));
      return out;
    }
    const value = definition.texts[solved.value], final = definition.texts[solved.final];
    out.append(el("div", "value", `${name} = ${value}`));
    if (value !== final) out.append(el("div", "", "in the end ", el("code", "", final)));
    let when;
    if (solved.step === 0) when = "said by an annotation, before the first step";
    else if (solved.shown) when = `solved at step ${solved.step} by ${solved.rule}`;
    else when = `solved after step ${solved.step} by ${solved.rule}, a matter of ranks that has no step of its own`;
    if (solved.step > at) when += " (ahead of here)";
    out.append(el("div", "quiet", when));
    for (const origin of solved.from) out.append(el("div", "quiet", prose(data.origins[origin].text)));
    if (solved.step > 0) out.append(el("div", "quiet", "click to go there"));
    return out;
  }

  function showTip(node) {
    const tip = $("tip");
    tip.replaceChildren(tipFor(node));
    tip.hidden = false;
    const box = node.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = tip;
    const left = Math.max(8, Math.min(box.left, innerWidth - width - 8));
    const below = box.bottom + 6 + height < innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? box.bottom + 6 : Math.max(8, box.top - height - 6)}px`;
    node.setAttribute("aria-describedby", "tip");
    for (const other of document.querySelectorAll(".v"))
      other.classList.toggle("same", node.dataset.name !== "" && other.dataset.name === node.dataset.name);
  }

  function hideTip() {
    $("tip").hidden = true;
    for (const node of document.querySelectorAll(".v.same")) node.classList.remove("same");
    for (const node of document.querySelectorAll("[aria-describedby=tip]")) node.removeAttribute("aria-describedby");
  }

  const variableAt = (event) => (event.target instanceof Element ? event.target.closest(".v") : null);
  for (const [on, off] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
    document.addEventListener(on, (event) => { const node = variableAt(event); if (node) showTip(node); });
    document.addEventListener(off, (event) => { if (variableAt(event)) hideTip(); });
  }
  document.addEventListener("scroll", (event) => {
    const node = document.querySelector("[aria-describedby=tip]");
    if (node && event.target.contains(node)) hideTip();
  }, true);

  // --- the source ------------------------------------------------------------------------------

  const rows = [];
  let touched = [];

  function drawSource() {
    const fragment = document.createDocumentFragment();
    data.source.lines.forEach((text, i) => {
      const row = el("div", "row", el("span", "number", String(i + 1)), el("span", "text"));
      rows.push({ row, chars: Array.from(text), tokens: data.source.tokens[i + 1] ?? [] });
      fragment.append(row);
      drawLine(i, []);
    });
    $("source").replaceChildren(fragment);
  }

  // A line cut at the edges of its tokens and of what is marked on it.
  function drawLine(i, marks) {
    const { row, chars, tokens } = rows[i];
    const names = definition ? definition.writtenOn.get(i + 1) ?? [] : [];
    const edges = new Set([0, chars.length]);
    for (const [start, length] of tokens) edges.add(start).add(start + length);
    for (const { start, end } of [...marks, ...names]) edges.add(start).add(Math.min(end, chars.length));
    const cuts = [...edges].filter((edge) => edge <= chars.length).sort((a, b) => a - b);
    const text = el("span", "text");
    let token = 0;
    for (let k = 0; k + 1 < cuts.length; k++) {
      const [start, end] = [cuts[k], cuts[k + 1]];
      while (token < tokens.length && tokens[token][0] + tokens[token][1] <= start) token++;
      const classes = [];
      if (token < tokens.length && tokens[token][0] <= start) classes.push(`t-${tokens[token][2]}`);
      for (const mark of marks) if (mark.start <= start && end <= mark.end) classes.push(...mark.classes);
      const piece = chars.slice(start, end).join("");
      const name = names.find((n) => n.start <= start && end <= n.end);
      const inner = name ? variable(piece, name.name) : piece;
      text.append(classes.length ? el("span", [...new Set(classes)].join(" "), inner) : inner);
    }
    row.className = "row";
    for (const mark of marks) row.classList.add(...mark.row);
    row.replaceChild(text, row.lastChild);
  }

  // `places` are pairs of a place and the classes of its mark.
  function markSource(places, follow) {
    for (const i of touched) drawLine(i, []);
    const byLine = new Map();
    let first = null;
    for (const [place, classes, rowClass] of places) {
      if (place === null) continue;
      const [fromLine, from, toLine, to] = data.places[place];
      first ??= fromLine - 1;
      for (let line = fromLine; line <= Math.min(toLine, rows.length); line++) {
        const chars = rows[line - 1].chars;
        const indent = chars.findIndex((c) => c.trim() !== "");
        const start = line === fromLine ? from : Math.max(0, indent);
        const end = line === toLine ? to : chars.length;
        if (!byLine.has(line - 1)) byLine.set(line - 1, []);
        byLine.get(line - 1).push({ start, end, classes, row: [rowClass] });
      }
    }
    touched = [...byLine.keys()];
    for (const [i, marks] of byLine) drawLine(i, marks);
    if (follow && first !== null && first < rows.length) reveal(rows[first].row);
  }

  function reveal(row) {
    const pane = $("source");
    const top = row.offsetTop - pane.offsetTop;
    if (top < pane.scrollTop + 20 || top + row.offsetHeight > pane.scrollTop + pane.clientHeight - 20)
      pane.scrollTo({
        top: top - pane.clientHeight / 3,
        behavior: Math.abs(top - pane.scrollTop) > 2 * pane.clientHeight ? "instant" : "auto",
      });
  }

  // --- the sets --------------------------------------------------------------------------------

  // The set after `step` steps: key -> {known, text}; null when it was left out.
  function setAfter(step) {
    if (step > definition.sets) return null;
    const lines = new Map(definition.constraints.map(([key, text]) => [key, { known: 0, text }]));
    for (const { gone, set } of definition.steps.slice(0, step)) {
      for (const key of gone) lines.delete(key);
      for (const [key, known, text] of set) lines.set(key, { known, text });
    }
    return lines;
  }

  function drawSets(step) {
    const after = setAfter(at);
    if (after === null) return el("p", "note", "The sets between the steps are left out from here on: there are too many.");
    const before = setAfter(at - 1);
    const known = [], open = [];
    const line = (key, className, text, was) => {
      const subject = key === step.subject ? " subject" : "";
      const item = el("li", className + subject, formula(definition.texts[text]));
      const word = { new: "new: ", moved: "rewritten: ", gone: "gone: " }[className];
      if (word) item.prepend(el("span", "unseen", word));
      if (was !== undefined) item.append(el("span", "was", el("span", "unseen", "was "), definition.texts[was]));
      return item;
    };
    for (const [key, { known: isKnown, text }] of after) {
      const old = before.get(key);
      const rewritten = old && old.text !== text;
      const item = line(key, !old ? "new" : rewritten ? "moved" : "", text, rewritten ? old.text : undefined);
      (isKnown ? known : open).push([key, item]);
    }
    for (const [key, { known: isKnown, text }] of before)
      if (!after.has(key)) (isKnown ? known : open).push([key, line(key, "gone", text)]);
    known.sort((a, b) => a[0] - b[0]);
    open.sort((a, b) => a[0] - b[0]);
    const list = (title, items, none) => {
      const count = items.filter(([, item]) => !item.classList.contains("gone")).length;
      return el("div", "", el("h3", "", title, el("span", "tally", String(count))),
        el("ul", "lines", ...(items.length ? items.map(([, item]) => item) : [el("li", "none", none)])));
    };
    return el("div", "",
      el("div", "sets", list("Still to solve", open, "nothing"), list("Known", known, "nothing yet")),
      el("p", "legend", el("span", "new", "+ new"), el("span", "moved", "~ rewritten"), el("span", "gone", "− gone")));
  }

  // --- a step ----------------------------------------------------------------------------------

  function places(origins) {
    return el("ul", "places", ...origins.map((i) => el("li", "", placed(data.origins[i].text, data.origins[i].place))));
  }

  // A text that shows its place when it is chosen.
  function placed(text, place) {
    if (place === null || data.places[place][0] > rows.length) return el("span", "", prose(text));
    return button("link", prose(text), () => markSource([[place, ["mark", "first"], "here"]], true));
  }

  function constraintTable(onKeys, badKeys) {
    const lines = definition.constraints.map(([key, text, origin]) => {
      const where = origin === null ? "" : placed(data.origins[origin].text, data.origins[origin].place);
      const row = el("tr", badKeys.has(key) ? "bad" : onKeys.has(key) ? "on" : "",
        el("td", "", formula(definition.texts[text])), el("td", "where", where));
      return row;
    });
    const body = el("tbody", "", ...lines);
    return lines.length ? el("table", "table", body) : el("p", "law", "none");
  }

  function givenTable() {
    return el("table", "table", el("tbody", "", ...definition.given.map(([text, origin]) => el("tr", "",
      el("td", "", formula(definition.texts[text])),
      el("td", "where", origin === null ? "" : placed(data.origins[origin].text, data.origins[origin].place))))));
  }

  function fold(id, title, content) {
    const node = el("details", "", el("summary", "", title));
    node.open = opened.has(id);
    const fill = () => { if (node.open && node.childElementCount === 1) node.append(content()); };
    fill();
    node.addEventListener("toggle", () => { node.open ? opened.add(id) : opened.delete(id); fill(); });
    return node;
  }

  function allSteps() {
    return el("ol", "all", ...definition.steps.map((step, i) => {
      const row = button("", "", () => go(i + 1));
      row.append(el("span", "n", String(i + 1)), el("span", "", step.rule), el("span", "what", definition.texts[step.about]));
      if (i + 1 === at) row.setAttribute("aria-current", "step");
      return el("li", "", row);
    }));
  }

  function problem(one) {
    const labels = one.labels.filter((label) => label.place !== null).map((label) => {
      const line = `line ${data.places[label.place][0]}`;
      return el("li", "", placed(label.text ? `${line}: ${label.text}` : line, label.place));
    });
    const more = one.more.map((text) => el("li", "", prose(text)));
    return el("div", one.severity === "error" ? "problem" : "problem note-only",
      el("div", "message", el("span", "code", one.code), prose(one.message)),
      labels.length + more.length ? el("ul", "", ...labels, ...more) : null);
  }

  const steps = (count) => (count === 1 ? "1 step" : `${count} steps`);
  const isConflict = (step) => definition.conflict !== null && step === definition.total;

  function drawStart(out) {
    const { given, constraints, asked, total } = definition;
    const fit = definition.steps.length;
    const card = el("div", "card", el("h2", "", "The constraints"),
      el("p", "law", "What the definition asks for, and where. The steps solve them one by one."));
    for (const one of definition.problems) card.append(problem(one));
    if (!definition.ok && !definition.problems.length)
      card.append(el("p", "effect failed", "It has no error of its own, but uses what has."));
    if (constraints.length < asked)
      card.append(el("p", "note", `There are ${asked}, and ${steps(total)}: more than fit on this page.`));
    else if (fit < total)
      card.append(el("p", "note", `There are ${steps(total)}, of which ${fit || "none"} fit on this page.`));
    if (definition.sets < fit)
      card.append(el("p", "note", `The sets between the steps are shown for the first ${definition.sets} of them only.`));
    out.append(card);
    if (given.length) out.append(el("h3", "", "Given by annotations"), givenTable());
    const bad = new Set(definition.conflict ? definition.conflict.keys : []);
    if (constraints.length === asked)
      out.append(el("h3", "", "To solve", el("span", "tally", String(asked))), constraintTable(new Set(), bad));
    if (bad.size) out.append(el("p", "legend", "Those in red cannot all hold."));
    markSource([[definition.place, ["mark"], "here"]], true);
  }

  function drawStep(out) {
    const step = definition.steps[at - 1];
    const conflict = isConflict(at);
    const card = el("div", conflict ? "card bad" : "card",
      el("h2", "", step.rule, el("small", "", `step ${at} of ${definition.total}`)),
      el("p", "law", data.laws[step.rule] ?? ""),
      el("div", "about", formula(definition.texts[step.about])),
      places(step.from));
    if (conflict) {
      const { clash, core } = definition.conflict;
      card.append(el("p", "effect failed", "Conflict: ", el("code", "", formula(definition.texts[clash])), " cannot hold."));
      if (core.length) card.append(el("p", "effect", core.length === 1 ? "This place alone makes it so:" :
        `These ${core.length} places together make it so; without any one of them there is no conflict:`), places(core));
      for (const one of definition.problems) card.append(problem(one));
    } else {
      const found = [...definition.solved].filter(([, s]) => s.step === at && s.shown);
      if (found.length) {
        const line = el("p", "effect", "Solved: ");
        found.forEach(([name, s], i) => {
          if (i) line.append(", ");
          line.append(el("code", "", variable(name, name), " = ", formula(definition.texts[s.value])));
        });
        card.append(line);
      }
    }
    out.append(card, drawSets(step));
    const bad = new Set(conflict ? definition.conflict.keys : []);
    out.append(fold("constraints", "The constraints at the start", () => constraintTable(new Set(step.keys), bad)));
    if (definition.given.length) out.append(fold("given", "Given by annotations", givenTable));
    if (definition.ok && at === definition.total) out.append(el("p", "effect", "Nothing is left to do: what is still open becomes a condition of the signature, or is dropped if no size in it matters."));
    const marks = conflict
      ? definition.conflict.core.map((i) => [data.origins[i].place, ["mark", "bad"], "bad"])
      : step.from.map((i, k) => [data.origins[i].place, k ? ["mark"] : ["mark", "first"], "here"]);
    markSource(marks, true);
  }

  function draw() {
    hideTip();
    const out = document.createDocumentFragment();
    if (at === 0) drawStart(out); else drawStep(out);
    if (definition.steps.length) out.append(fold("steps", `All steps (${definition.steps.length})`, allSteps));
    $("step").replaceChildren(out);
    $("slider").max = String(definition.steps.length);
    $("slider").value = String(at);
    $("slider").disabled = !definition.steps.length;
    const text = at === 0 ? (definition.steps.length ? `start, ${steps(definition.steps.length)}` : "no steps") : `step ${at} of ${definition.steps.length}`;
    $("count").textContent = text;
    $("slider").setAttribute("aria-valuetext", text);
    $("back").disabled = $("first").disabled = at === 0;
    $("forward").disabled = $("last").disabled = at === definition.steps.length;
    $("play").disabled = !definition.steps.length;
    if (at) {
      const step = definition.steps[at - 1];
      $("live").textContent = `Step ${at}: ${step.rule}, ${definition.texts[step.about]}${isConflict(at) ? ", conflict" : ""}`;
    }
    try { history.replaceState(null, "", `#${data.definitions.indexOf(definition.raw)}.${at}`); } catch { /* a page without an address */ }
  }

  function go(step, playing = false) {
    if (!playing) stop();
    const to = Math.max(0, Math.min(definition.steps.length, step));
    const moved = to !== at;
    const inside = $("step").contains(document.activeElement);
    at = to;
    draw();
    if (inside) $("step").focus({ preventScroll: true });
    if (moved && getComputedStyle($("derivation")).overflowY === "auto") $("derivation").scrollTop = 0;
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    $("play").textContent = "▶\uFE0E play";
    $("play").setAttribute("aria-label", "Play");
  }

  function play() {
    if (timer !== null) return stop();
    if (at === definition.steps.length) go(0);
    $("play").textContent = "❚❚ pause";
    $("play").setAttribute("aria-label", "Pause");
    timer = setInterval(() => { go(at + 1, true); if (at === definition.steps.length) stop(); }, PLAY_MS);
  }

  // --- a definition ----------------------------------------------------------------------------

  function choose(index, step = 0) {
    const raw = data.definitions[index];
    const own = new Map(raw.names.map((name) => [name, name]));
    const writtenOn = new Map();
    for (const [place, name] of raw.written) {
      const [line, start, , end] = data.places[place];
      if (!writtenOn.has(line)) writtenOn.set(line, []);
      writtenOn.get(line).push({ start, end, name });
    }
    const old = definition ? [...definition.writtenOn.keys()] : [];
    definition = {
      ...raw, raw, names: own, solved: new Map(Object.entries(raw.solved)), writtenOn,
      free: new Map(Object.entries(raw.free)), problems: raw.problems.map((i) => data.problems[i]),
    };
    definition.elements = new Set([...definition.free].filter(([, name]) => name === null).map(([name]) => name));
    for (const line of [...old, ...writtenOn.keys()]) if (line <= rows.length) drawLine(line - 1, []);
    $("definition").value = String(index);
    drawSignature();
    showGraph(index);
    go(step);
  }

  function drawSignature() {
    const { name, ok, signature, where, guards, free } = definition;
    const out = [];
    if (ok) {
      out.push(el("div", "signed", name, el("span", "colon", " : "), formula(signature, free)));
      const list = (word, items) => {
        if (!items.length) return;
        const line = el("div", "conditions", el("b", "", word));
        items.forEach((text, i) => line.append(i ? ", " : "", formula(text, free)));
        out.push(line);
      };
      list("where", where);
      list("checked when it runs:", guards);
    } else {
      out.push(el("div", "signed failed", name, el("span", "colon", " : "), "no type"));
      const first = definition.problems.find((one) => one.severity === "error");
      out.push(el("div", "conditions", first ? first.message : "it uses something that has errors"));
    }
    $("signature").replaceChildren(...out);
    const graph = data.graphs[data.definitions.indexOf(definition.raw)];
    if (ok && graph && graph.signature === signature) colour(graph.symbols);
  }

  // Sizes in the signature have the colours that they have in the graph.
  function colour(symbols) {
    const hues = new Map(symbols.map((name, i) => [name, `c${i % 8}${Math.floor(i / 8) % 2 ? " u" : ""}`]));
    for (const node of document.querySelectorAll("#signature .v")) {
      const hue = hues.get(node.dataset.text.replace("?", ""));
      if (hue) node.classList.add(...hue.split(" "));
    }
  }

  // --- the graph -------------------------------------------------------------------------------

  let shown = -1; // whose graph is drawn
  let view = "derivation";

  const isInside = (at, whole) => {
    const [line, start, last, end] = data.places[whole], [a, b, c, d] = data.places[at];
    return (a > line || (a === line && b >= start)) && (c < last || (c === last && d <= end));
  };

  // The steps whose places lie inside a box and inside none of the others that it contains: why its
  // types are what they are.
  function stepsAt(place, others) {
    if (!definition || place < 0) return [];
    const within = others.filter((other) => other >= 0 && other !== place && isInside(other, place));
    const own = (at) => at !== null && isInside(at, place) && !within.some((other) => at !== other && isInside(at, other));
    const found = [];
    definition.steps.forEach((step, i) => {
      if (step.from.some((origin) => own(data.origins[origin].place)))
        found.push({ number: i + 1, rule: step.rule, about: definition.texts[step.about] });
    });
    return found;
  }

  function showGraph(index) {
    const graph = data.graphs[index];
    $("tab-graph").disabled = !graph;
    if (!graph) return select("derivation");
    if (view !== "graph" || shown === index) return;
    shown = index;
    Graph.show(graph, {
      stepsAt,
      line: (place) => (place < 0 ? null : data.places[place][0]),
      go: (step) => { select("derivation"); go(step); },
    });
  }

  function select(name, focus = false) {
    view = name;
    const graph = name === "graph";
    document.body.classList.toggle("graph-view", graph);
    $("graph").hidden = !graph;
    $("main").hidden = graph;
    $("controls").hidden = graph || !data.definitions.length;
    for (const [id, on] of [["tab-graph", graph], ["tab-derivation", !graph]]) {
      $(id).setAttribute("aria-selected", String(on));
      $(id).tabIndex = on ? 0 : -1;
      if (on && focus) $(id).focus();
    }
    if (graph) { stop(); showGraph(definition ? data.definitions.indexOf(definition.raw) : 0); }
  }

  function nothing() {
    $("controls").hidden = true;
    const out = el("div", "card", el("h2", "", "Nothing to derive"), el("p", "law", "The program has no definition that could be read."));
    for (const one of data.problems) out.append(problem(one));
    $("step").replaceChildren(out);
    markSource(data.problems.flatMap((one) => one.labels.slice(0, 1).map((l) => [l.place, ["mark", "bad"], "bad"])), true);
  }

  // --- from the start --------------------------------------------------------------------------

  $("file").textContent = data.file;
  for (const text of data.notes) $("notes").append(el("p", "note", text));
  drawSource();
  data.definitions.forEach((one, i) => {
    const line = one.place === null ? "" : `, line ${data.places[one.place][0]}`;
    const option = el("option", "", `${one.ok ? "" : "✗ "}${one.name}${line}${one.ok ? "" : " (has errors)"}`);
    option.value = String(i);
    $("definition").append(option);
  });
  $("chooser").hidden = data.definitions.length < 2;
  $("definition").addEventListener("change", (event) => choose(Number(event.target.value)));
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(at - 1));
  $("forward").addEventListener("click", () => go(at + 1));
  $("last").addEventListener("click", () => go(definition.steps.length));
  $("play").addEventListener("click", play);
  $("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
    if (view === "graph") return Graph.key(event);
    if (event.key === "Escape") return;
    if (!definition || event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("select, input")) return;
    if (event.key === " " && event.target.closest?.("button, summary, a, [role=button]")) return;
    const action = {
      ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), Home: () => go(0),
      End: () => go(definition.steps.length), " ": play,
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  function fromAddress() {
    const [, index, step] = /^#(\d+)\.(\d+)$/.exec(location.hash) ?? [];
    const failing = data.definitions.findIndex((one) => !one.ok && one.problems.length > 0);
    choose(index !== undefined && index < data.definitions.length ? Number(index) : failing >= 0 ? failing : data.view === "graph" ? data.definitions.length - 1 : 0, Number(step ?? 0));
  }
  addEventListener("hashchange", () => { if (data.definitions.length && /^#\d+\.\d+$/.test(location.hash)) fromAddress(); });
  for (const name of ["graph", "derivation"]) {
    $(`tab-${name}`).addEventListener("click", () => select(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      event.stopPropagation();
      const other = name === "graph" ? "derivation" : "graph";
      if (!$(`tab-${other}`).disabled) select(other, true);
    });
  }
  $("tabs").hidden = !data.definitions.length || !data.graphs.some(Boolean);
  if (data.definitions.length) fromAddress();
  else if (!data.graphs.some(Boolean)) nothing();
  if (data.view === "graph" && data.graphs.some(Boolean)) select("graph");
  if (!data.definitions.length && data.graphs[0]?.signature) {
    const { title, signature } = data.graphs[0];
    $("signature").append(el("div", "signed", title, el("span", "colon", " : "), Graph.type(signature)));
  }
})();
