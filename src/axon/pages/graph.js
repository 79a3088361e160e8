"use strict";
// The graph of a definition. A drawing comes laid out with its boxes closed; where a box is opened,
// what is beside it and below it moves aside. Only what can be seen is in the document.
const Graph = (() => {
  const $ = (id) => document.getElementById(id);
  const SVG = $("scene").namespaceURI;
  const STUB = 7, TAG = 18, TITLE = 18, LINE = 15, MARGIN = 16, GAP = 22, PORTS = 15;
  const MOST_DETAILED = 900; // boxes in view; with more of them there is an overview
  const MOST_LOOKED = 20000; // boxes that a search looks at
  const COLOURS = 8;

  let picture = null, hooks = null, symbols = new Map();
  let opened = new Set(); // the open boxes, by path
  let scene = null; // boxes and wires with their places
  let scale = 1, left = 0, top = 0; // of the view
  let drawn = null; // the part that is in the document
  let chosen = null, matches = [], match = -1;

  const text = (at) => picture.texts[at];
  const svg = (tag, attributes, ...children) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const html = (tag, className, ...children) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children);
    return node;
  };

  // --- drawings --------------------------------------------------------------------------------

  const box = (row) => {
    const [kind, title, lines, x, width, height, layer, inside, count, problem, says, outputs, place] = row;
    return { kind, title: text(title), lines: lines.map(text), x, width, height, layer,
      inside: inside < picture.drawings.length ? inside : -1, count, problem, says: text(says), place,
      outputs: outputs.map(([label, type, name, wide]) => ({ label: text(label), type: text(type), name: text(name), wide })) };
  };
  const known = new Map();
  function drawing(number) {
    if (!known.has(number)) {
      const raw = picture.drawings[number];
      known.set(number, { ...raw, name: text(raw.name), boxes: raw.boxes.map(box) });
    }
    return known.get(number);
  }

  // Everything of a drawing at the given place: boxes and wires go into the scene.
  function arrange(number, path) {
    const { boxes, edges, trunks, gaps, layers } = drawing(number);
    const inner = new Map();
    boxes.forEach((one, i) => {
      const here = `${path}/${i}`;
      if (one.inside >= 0 && opened.has(here)) inner.set(i, arrange(one.inside, here));
    });
    const placed = boxes.map((one, i) => {
      const inside = inner.get(i);
      return { ...one, at: i, path: `${path}/${i}`, inner: inside, cx: one.x,
        w: inside ? Math.max(one.width, inside.w + 10) : one.width,
        h: inside ? one.height + inside.h + 2 : one.height };
    });
    const tags = (one) => one.outputs.reduce((sum, o) => sum + o.wide, 0) + 14 * Math.max(0, one.outputs.length - 1);
    const rows = Array.from({ length: layers }, () => []);
    for (const one of placed) rows[one.layer].push({ x: one.cx, half: Math.max(one.w, tags(one)) / 2, one });
    const lanes = new Map(); // of each trunk: a dummy in each layer below the box
    for (const [source, output, ...xs] of trunks) {
      const lane = xs.map((x) => ({ x, half: 2 }));
      lanes.set(`${source}.${output}`, lane);
      lane.forEach((dummy, k) => rows[placed[source].layer + 1 + k].push(dummy));
    }
    // aside: what stands beside an open box keeps its order, and moves as little to both sides
    for (const row of rows) {
      row.sort((a, b) => a.x - b.x);
      if (!row.some(({ one }) => one && one.inner)) continue;
      const right = [], left = [];
      row.forEach((item, i) => right.push(i ? Math.max(item.x, right[i - 1] + row[i - 1].half + item.half + GAP) : item.x));
      for (let i = row.length - 1; i >= 0; i--)
        left[i] = i + 1 < row.length ? Math.min(row[i].x, left[i + 1] - row[i + 1].half - row[i].half - GAP) : row[i].x;
      row.forEach((item, i) => { item.x = (left[i] + right[i]) / 2; });
    }
    let least = Infinity, most = -Infinity;
    for (const row of rows) for (const { x, half } of row) { least = Math.min(least, x - half); most = Math.max(most, x + half); }
    const shift = MARGIN - (least === Infinity ? 0 : least);
    for (const row of rows) for (const item of row) { item.x += shift; if (item.one) item.one.cx = item.x; }
    // down
    const span = [];
    let y = MARGIN;
    rows.forEach((row, level) => {
      if (level) y += gaps[level - 1];
      let tall = 0;
      for (const { one } of row) if (one) {
        one.y = y;
        one.bottom = y + one.h + (one.outputs.length ? STUB + TAG : 0);
        tall = Math.max(tall, one.bottom - y);
      }
      span.push([y, y + tall]);
      y += tall;
    });
    for (const one of placed) {
      let x = one.cx - tags(one) / 2;
      one.tags = one.outputs.map((o) => { const middle = x + o.wide / 2; x += o.wide + 14; return middle; });
    }
    // wires: down beside the boxes of a layer, in curves between two layers
    const starts = edges.map(([source, output, target, , , far]) => {
      const lane = lanes.get(`${source}.${output}`);
      const k = placed[target].layer - placed[source].layer - 2;
      return k >= 0 && lane && !far ? { x: lane[Math.min(k, lane.length - 1)].x, y: span[placed[target].layer - 1][1], lane: Math.min(k, lane.length - 1) }
        : { x: placed[source].tags[output], y: placed[source].bottom, lane: -1 };
    });
    const into = new Map();
    edges.forEach(([source, , target], i) => {
      if (placed[source].layer >= placed[target].layer) return;
      if (!into.has(target)) into.set(target, []);
      into.get(target).push(i);
    });
    const wires = [];
    for (const [target, numbers] of into) {
      numbers.sort((a, b) => starts[a].x - starts[b].x || edges[a][3] - edges[b][3]);
      const end = placed[target], step = Math.min(PORTS, (end.w - 16) / numbers.length);
      numbers.forEach((number, i) => {
        const [source, output, , , problem, far] = edges[number];
        const from = placed[source], start = starts[number];
        const x = end.cx + (i - (numbers.length - 1) / 2) * step;
        let d, y0;
        if (start.lane < 0) {
          const low = Math.max(start.y, span[from.layer][1]);
          d = `M${n(start.x)} ${n(start.y)}${to(start.x, start.y, start.x, low)}${to(start.x, low, x, end.y)}`;
          y0 = start.y;
        } else { d = `M${n(start.x)} ${n(start.y)}${to(start.x, start.y, x, end.y)}`; y0 = start.y; }
        wires.push({ d, tip: `M${n(x - 3.5)} ${n(end.y - 6)}L${n(x)} ${n(end.y)}L${n(x + 3.5)} ${n(end.y - 6)}`,
          x0: Math.min(start.x, x), x1: Math.max(start.x, x), y0, y1: end.y, from, output, end, problem, far });
      });
    }
    for (const [key, lane] of lanes) {
      const [source, output] = key.split(".").map(Number);
      const from = placed[source];
      let x = from.tags[output], yy = from.bottom;
      const low = Math.max(yy, span[from.layer][1]);
      let d = `M${n(x)} ${n(yy)}${to(x, yy, x, low)}`;
      let x0 = x, x1 = x, y0 = yy;
      yy = low;
      const problem = edges.find(([s, o, , , p]) => s === source && o === output && p >= 0)?.[4] ?? -1;
      lane.forEach((dummy, k) => {
        const [above, below] = span[from.layer + 1 + k];
        d += to(x, yy, dummy.x, above) + to(dummy.x, above, dummy.x, below);
        x = dummy.x; yy = below;
        x0 = Math.min(x0, x); x1 = Math.max(x1, x);
      });
      wires.push({ d, tip: "", x0, x1, y0, y1: yy, from, output, end: null, problem, far: 0 });
    }
    return { w: (most === -Infinity ? 0 : most + shift) + MARGIN, h: y + MARGIN, placed, wires };
  }

  const n = (value) => String(Math.round(value * 10) / 10);
  function to(x, y, x1, y1) {
    if (Math.abs(x1 - x) < 0.05) return `V${n(y1)}`;
    const bend = n(y + (y1 - y) / 2);
    return `C${n(x)} ${bend} ${n(x1)} ${bend} ${n(x1)} ${n(y1)}`;
  }

  // Boxes and wires of all open drawings in the coordinates of the whole.
  function flatten(layout, x, y, out) {
    for (const wire of layout.wires) out.wires.push({ ...wire, dx: x, dy: y });
    for (const one of layout.placed) {
      const item = { ...one, left: x + one.cx - one.w / 2, top: y + one.y, dx: x, dy: y };
      out.boxes.push(item);
      out.byPath.set(one.path, item);
      if (one.inner) flatten(one.inner, x + one.cx - one.inner.w / 2, y + one.y + one.height, out);
    }
    return out;
  }

  function build() {
    const layout = arrange(0, "");
    scene = flatten(layout, 0, 0, { boxes: [], wires: [], byPath: new Map() });
    scene.w = layout.w;
    scene.h = layout.h;
    drawn = null;
  }

  // --- the view --------------------------------------------------------------------------------

  const size = () => ({ width: $("canvas").clientWidth || 800, height: $("canvas").clientHeight || 600 });

  function fit() {
    const { width, height } = size();
    scale = Math.min(1.25, width / scene.w, height / scene.h);
    if (scale < 0.3) { // too large to be read as a whole: its beginning
      scale = Math.min(1, width / scene.w);
      if (scale < 0.4) scale = 0.8;
      const first = scene.boxes.reduce((a, b) => (b.top < a.top ? b : a));
      left = (scale === 0.8 ? first.left + first.w / 2 : scene.w / 2) - width / scale / 2;
      top = -10;
    } else {
      left = (scene.w - width / scale) / 2;
      top = Math.min(0, (scene.h - height / scale) / 2);
    }
    render();
  }

  function all() {
    const { width, height } = size();
    scale = Math.min(1.25, width / scene.w, height / scene.h);
    left = (scene.w - width / scale) / 2;
    top = (scene.h - height / scale) / 2;
    render();
  }

  function zoom(factor, x, y) {
    const { width, height } = size();
    const px = x ?? width / 2, py = y ?? height / 2;
    const next = Math.max(0.005, Math.min(4, scale * factor));
    left += px / scale - px / next;
    top += py / scale - py / next;
    scale = next;
    render();
  }

  function center(item) {
    const { width, height } = size();
    scale = Math.max(scale, 0.7);
    left = item.left + item.w / 2 - width / scale / 2;
    top = item.top + Math.min(item.h, 60) / 2 - height / scale / 2;
    render();
  }

  function render() {
    $("view").setAttribute("transform", `scale(${scale}) translate(${-left} ${-top})`);
    const { width, height } = size();
    const seen = { x0: left, y0: top, x1: left + width / scale, y1: top + height / scale };
    if (drawn && drawn.scale === scale >= 0.18 && seen.x0 >= drawn.x0 && seen.y0 >= drawn.y0 && seen.x1 <= drawn.x1 && seen.y1 <= drawn.y1) return;
    const w = seen.x1 - seen.x0, h = seen.y1 - seen.y0;
    drawn = { x0: seen.x0 - w, y0: seen.y0 - h, x1: seen.x1 + w, y1: seen.y1 + h, scale: scale >= 0.18 };
    const visible = (x0, y0, x1, y1) => x1 >= drawn.x0 && x0 <= drawn.x1 && y1 >= drawn.y0 && y0 <= drawn.y1;
    const boxes = scene.boxes.filter((one) => visible(one.left, one.top, one.left + one.w, one.top + one.h + 30));
    const wires = scene.wires.filter((one) => visible(one.dx + one.x0, one.dy + one.y0, one.dx + one.x1, one.dy + one.y1));
    const focus = document.activeElement?.dataset?.path;
    if (boxes.length > MOST_DETAILED || (!drawn.scale && boxes.length > 60)) $("view").replaceChildren(...overview(boxes, wires));
    else {
      const out = [];
      // an open box is behind the wires and boxes inside it
      const depth = (path) => path.split("/").length;
      const levels = new Map();
      const level = (d) => { if (!levels.has(d)) levels.set(d, { wires: [], boxes: [] }); return levels.get(d); };
      for (const wire of wires) level(depth(wire.from.path)).wires.push(drawWire(wire));
      for (const one of boxes) level(depth(one.path)).boxes.push(drawBox(one));
      for (const d of [...levels.keys()].sort((a, b) => a - b)) out.push(...levels.get(d).wires, ...levels.get(d).boxes);
      $("view").replaceChildren(...out);
    }
    if (focus) $("view").querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  function overview(boxes, wires) {
    let shapes = "", lines = "", wrong = "";
    for (const one of boxes) {
      const d = `M${n(one.left)} ${n(one.top)}h${n(one.w)}v${n(one.h)}h${n(-one.w)}Z`;
      if (one.problem >= 0) wrong += d; else if (!one.inner) shapes += d;
    }
    for (const wire of wires) lines += `M${n(wire.dx + wire.x0)} ${n(wire.dy + wire.y0)}L${n(wire.dx + wire.x1)} ${n(wire.dy + wire.y1)}`;
    return [svg("path", { class: "far-lines", d: lines }), svg("path", { class: "far-away", d: shapes }),
      svg("path", { class: "says", d: wrong })];
  }

  const WORD = /\??[A-Za-z_][A-Za-z0-9_]*'*/g;
  function coloured(label, node, make) {
    let end = 0;
    for (const found of label.matchAll(WORD)) {
      const symbol = symbols.get(found[0].replace("?", ""));
      if (symbol === undefined || label[found.index + found[0].length] === "(") continue;
      if (found.index > end) node.append(label.slice(end, found.index));
      node.append(make(`c${symbol % COLOURS}${Math.floor(symbol / COLOURS) % 2 ? " u" : ""}`, found[0]));
      end = found.index + found[0].length;
    }
    node.append(label.slice(end));
    return node;
  }
  const inSvg = (className, word) => svg("tspan", { class: className }, word);

  function drawWire(wire) {
    const kind = `edge${wire.problem >= 0 ? " wrong" : ""}${wire.far ? " far" : ""}`;
    const node = svg("g", { class: "wire", transform: `translate(${n(wire.dx)} ${n(wire.dy)})` },
      svg("path", { class: kind, d: wire.d }), svg("path", { class: "hit", d: wire.d }));
    if (wire.tip) node.append(svg("path", { class: `${kind} tip`, d: wire.tip }));
    node.addEventListener("click", (event) => { if (!moved) { event.stopPropagation(); showWire(wire); } });
    return node;
  }

  function drawBox(one) {
    const { left: x, top: y, w, h, kind } = one;
    const found = matches.includes(one.path) ? " hit-found" : "";
    const node = svg("g", { class: `box ${kind}${one.problem >= 0 ? " wrong" : ""}${found}${chosen === one.path ? " on" : ""}`, tabindex: "0", role: "button", "data-path": one.path });
    const said = [title(one), ...one.lines, ...one.outputs.map((o) => `${o.name} ${o.type}`.trim()), one.says].filter(Boolean);
    node.setAttribute("aria-label", said.join(", "));
    if (one.inside >= 0) node.setAttribute("aria-expanded", String(Boolean(one.inner)));
    const radius = kind === "input" || kind === "result" ? Math.min(14, h / 2) : 5;
    if (one.count > 1 && !one.inner) node.append(svg("rect", { class: "behind", x: n(x + 5), y: n(y + 5), width: n(w), height: n(h), rx: radius }));
    node.append(svg("rect", { class: "body", x: n(x), y: n(y), width: n(w), height: n(h), rx: radius }));
    const middle = x + w / 2;
    let at = y + 5 + TITLE - 5;
    const mark = one.inside < 0 ? "" : one.inner ? "▾ " : "▸ ";
    node.append(svg("text", { class: "title", x: n(middle), y: n(at) }, mark + title(one)));
    for (const line of one.lines) {
      at += LINE;
      node.append(coloured(line, svg("text", { class: "line", x: n(middle), y: n(at) }), inSvg));
    }
    if (one.says) { at += LINE; node.append(svg("text", { class: "says mid", x: n(middle), y: n(at) }, one.says)); }
    if (one.inner) node.append(svg("rect", { class: "paper", x: n(middle - one.inner.w / 2 + 5), y: n(y + one.height - 2), width: n(one.inner.w - 10), height: n(one.inner.h - 3), rx: 4 }));
    one.outputs.forEach((output, i) => {
      const tag = one.tags[i] + one.dx, low = y + h, edge = Math.max(x + 6, Math.min(tag, x + w - 6));
      const label = svg("text", { class: "tag", x: n(tag), y: n(low + STUB + TAG - 5) });
      if (output.name) label.append(svg("tspan", { class: "name" }, `${output.name} `));
      coloured(output.label, label, inSvg);
      node.append(svg("path", { class: "edge", d: `M${n(edge)} ${n(low)}L${n(tag)} ${n(low + STUB)}` }),
        svg("rect", { class: "halo", x: n(tag - output.wide / 2), y: n(low + STUB + 3), width: n(output.wide), height: TAG - 4, rx: 3 }), label);
    });
    node.addEventListener("click", (event) => {
      if (moved) return;
      event.stopPropagation();
      if (one.inside >= 0 && event.detail < 2 && !getSelection().toString()) toggle(one.path);
      showBox(scene.byPath.get(one.path) ?? one);
    });
    return node;
  }

  const title = (one) => (one.count > 1 ? `${one.title} ×${one.count}` : one.title);

  // --- opening ---------------------------------------------------------------------------------

  // What was there stays where it is on the screen.
  function toggle(path) {
    const before = scene.byPath.get(path);
    if (opened.has(path)) for (const other of [...opened]) { if (other === path || other.startsWith(`${path}/`)) opened.delete(other); }
    else opened.add(path);
    rebuilt(path, before);
  }

  function rebuilt(path, before) {
    build();
    const after = scene.byPath.get(path);
    if (before && after) { left += after.left + after.w / 2 - before.left - before.w / 2; top += after.top - before.top; }
    render();
  }

  function deeper() {
    const more = scene.boxes.filter((one) => one.inside >= 0 && !one.inner);
    if (more.length > 400) return;
    for (const one of more) opened.add(one.path);
    build();
    fit();
  }

  function closeAll() {
    opened = new Set();
    build();
    fit();
  }

  // --- details ---------------------------------------------------------------------------------

  const inHtml = (className, word) => html("span", `sym ${className}`, word);

  function details(...children) {
    const shut = html("button", "shut", "×");
    shut.type = "button";
    shut.setAttribute("aria-label", "Close the details");
    shut.addEventListener("click", hideDetails);
    const panel = html("div", "axon-graph", ...children.filter(Boolean));
    $("details").replaceChildren(shut, panel);
    $("details").hidden = false;
  }

  function hideDetails() {
    $("details").hidden = true;
    chosen = null;
    for (const node of document.querySelectorAll("#view .on")) node.classList.remove("on");
  }

  function typed(output) {
    const line = html("div", "type");
    if (output.name) line.append(`${output.name} : `);
    return coloured(output.type || output.label, line, inHtml);
  }

  function why(place) {
    const out = [];
    const line = hooks.line(place);
    if (line !== null) out.push(html("p", "law", `line ${line} of the program`));
    const steps = hooks.stepsAt(place, drawing(0).boxes.map((one) => one.place));
    if (!steps.length) return out;
    out.push(html("h3", "", "Why"));
    const list = html("ol", "");
    for (const step of steps.slice(0, 12)) {
      const link = html("button", "link", `${step.number}. ${step.rule}: ${step.about}`);
      link.type = "button";
      link.addEventListener("click", () => hooks.go(step.number));
      list.append(html("li", "", link));
    }
    if (steps.length > 12) list.append(html("li", "", `and ${steps.length - 12} more steps`));
    out.push(list);
    return out;
  }

  function wrong(problem) {
    if (problem < 0) return null;
    const [message, text] = picture.problems[problem];
    const [first, ...rest] = (text || message).split("\n");
    const places = rest.length ? html("pre", "", rest.join("\n")) : "";
    if (places) places.tabIndex = 0; // they may be wider than the panel, and keys scroll them then
    return html("div", "", html("p", "wrong", first), places);
  }

  function showBox(one) {
    chosen = one.path;
    for (const node of document.querySelectorAll("#view .on")) node.classList.remove("on");
    document.querySelector(`#view [data-path="${CSS.escape(one.path)}"]`)?.classList.add("on");
    details(html("h2", "", title(one)), html("p", "law", one.kind), wrong(one.problem),
      ...one.lines.map((line) => html("div", "type", line)),
      one.outputs.length ? html("h3", "", "Makes") : null, ...one.outputs.map(typed), ...why(one.place));
  }

  function showWire(wire) {
    const output = wire.from.outputs[wire.output];
    details(html("h2", "", wire.end ? `${title(wire.from)} → ${title(wire.end)}` : `from ${title(wire.from)}`),
      wrong(wire.problem), typed(output), ...why(wire.end ? wire.end.place : wire.from.place));
  }

  // --- search ----------------------------------------------------------------------------------

  // Boxes of all drawings, closed ones too, in the order in which they are met.
  function* everywhere(number, path) {
    const { boxes } = drawing(number);
    for (let i = 0; i < boxes.length; i++) {
      yield [boxes[i], `${path}/${i}`];
      if (boxes[i].inside >= 0) yield* everywhere(boxes[i].inside, `${path}/${i}`);
    }
  }

  function search() {
    const wanted = $("search").value.trim().toLowerCase();
    matches = [];
    match = -1;
    if (wanted) {
      let looked = 0;
      for (const [one, path] of everywhere(0, "")) {
        if (++looked > MOST_LOOKED || matches.length >= 500) break;
        const all = [one.title, ...one.lines, ...one.outputs.flatMap((o) => [o.name, o.label, o.type])];
        if (all.some((each) => each.toLowerCase().includes(wanted))) matches.push(path);
      }
    }
    $("found").textContent = wanted ? (matches.length ? `${matches.length} found` : "nothing found") : "";
    drawn = null;
    if (matches.length) next(1); else render();
  }

  function next(by) {
    if (!matches.length) return;
    match = (match + by + matches.length) % matches.length;
    const path = matches[match], parts = path.split("/");
    for (let i = 2; i < parts.length; i++) opened.add(parts.slice(0, i).join("/"));
    build();
    const item = scene.byPath.get(path);
    $("found").textContent = `${match + 1} of ${matches.length}`;
    center(item);
    showBox(item);
  }

  // --- pointer and keys ------------------------------------------------------------------------

  let moved = false;
  function pointers() {
    const canvas = $("canvas"), held = new Map();
    let spread = 0;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      held.set(event.pointerId, [event.clientX, event.clientY]);
      moved = false;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held.has(event.pointerId)) return;
      const [x, y] = held.get(event.pointerId);
      if (held.size === 2) {
        held.set(event.pointerId, [event.clientX, event.clientY]);
        const [[ax, ay], [bx, by]] = [...held.values()];
        const now = Math.hypot(ax - bx, ay - by), area = canvas.getBoundingClientRect();
        if (spread) zoom(now / spread, (ax + bx) / 2 - area.left, (ay + by) / 2 - area.top);
        spread = now;
        moved = true;
        return;
      }
      const dx = event.clientX - x, dy = event.clientY - y;
      if (!moved && Math.hypot(dx, dy) < 4) return;
      if (!moved) { moved = true; canvas.setPointerCapture(event.pointerId); canvas.classList.add("moving"); }
      held.set(event.pointerId, [event.clientX, event.clientY]);
      left -= dx / scale;
      top -= dy / scale;
      render();
    });
    const up = (event) => { held.delete(event.pointerId); spread = 0; canvas.classList.remove("moving"); };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("click", () => { if (!moved) hideDetails(); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const area = canvas.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) return zoom(Math.exp(-event.deltaY * 0.01), event.clientX - area.left, event.clientY - area.top);
      left += event.deltaX / scale;
      top += event.deltaY / scale;
      render();
    }, { passive: false });
    canvas.addEventListener("focusin", (event) => {
      const item = scene?.byPath.get(event.target.dataset?.path);
      if (!item || !event.target.matches(":focus-visible")) return;
      const { width, height } = size();
      const inside = item.left >= left && item.top >= top && item.left + item.w <= left + width / scale && item.top + 30 <= top + height / scale;
      if (!inside) center(item);
    });
    new ResizeObserver(() => { if (scene) { drawn = null; render(); } }).observe(canvas);
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target === $("search")) {
      if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") { $("search").value = ""; search(); $("canvas").focus(); }
      return;
    }
    if (event.target.closest?.("select, input")) return;
    const path = event.target.dataset?.path;
    if ((event.key === "Enter" || event.key === " ") && path) {
      event.preventDefault();
      const item = scene.byPath.get(path);
      if (item.inside >= 0) toggle(path);
      return showBox(scene.byPath.get(path));
    }
    if (event.target.closest?.("button")) return;
    const step = 60 / scale;
    const action = {
      ArrowLeft: () => { left -= step; render(); }, ArrowRight: () => { left += step; render(); },
      ArrowUp: () => { top -= step; render(); }, ArrowDown: () => { top += step; render(); },
      "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: all, "/": () => $("search").focus(),
      "]": deeper, "[": closeAll, Escape: hideDetails, Home: fit,
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  let ready = false;
  function show(data, given) {
    picture = data;
    hooks = given;
    known.clear();
    opened = new Set();
    symbols = new Map(data.symbols.map((name, i) => [name, i]));
    matches = [];
    $("search").value = "";
    $("found").textContent = "";
    hideDetails();
    if (!ready) {
      ready = true;
      pointers();
      $("search").addEventListener("input", search);
      $("zoom-in").addEventListener("click", () => zoom(1.25));
      $("zoom-out").addEventListener("click", () => zoom(0.8));
      $("fit").addEventListener("click", all);
      $("open-all").addEventListener("click", deeper);
      $("close-all").addEventListener("click", closeAll);
    }
    build();
    const first = data.problems[0];
    const place = scene.boxes.find((one) => one.problem === 0 && one.says);
    if (first) details(html("h2", "", "This graph has an error"), ...data.problems.map((_, i) => wrong(i)));
    else if (data.notes.length) details(html("h2", "", "Notes"), ...data.notes.map((note) => html("p", "law", note)));
    fit();
    if (first && place && scene.h * scale > size().height) center(place);
  }

  // A type with its sizes in the colours of the graph that is shown.
  const type = (text) => coloured(text, html("span"), (className, word) => html("span", className, word));

  return { show, key, type };
})();
