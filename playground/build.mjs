// Builds the page into src/axon/playground/built: scripts, style, the graph's script, the examples.
import { build } from "esbuild";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const built = join(root, "src/axon/playground/built");
const pages = join(root, "src/axon/pages");
const examples = join(root, "examples");
const PARTS = ["autocomplete", "commands", "language", "lint", "search", "state", "view"];

await rm(built, { recursive: true, force: true });
await mkdir(built, { recursive: true });
const { metafile } = await build({
  metafile: true,
  entryPoints: { main: join(here, "src/main.js"), worker: join(here, "src/worker.js") },
  outdir: built,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "eof",
  external: ["./pyodide/pyodide.mjs"],
  // The grammar lies in editors/, and must use the same CodeMirror.
  alias: Object.fromEntries(PARTS.map((part) => [`@codemirror/${part}`, resolve(here, "node_modules/@codemirror", part)])),
});

// The licences of what is in the scripts, and of Pyodide, which a site has beside them.
const packages = new Set(["pyodide"]);
for (const path of Object.keys(metafile.inputs)) {
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  if (name) packages.add(name);
}
const licences = [];
for (const name of [...packages].sort()) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const text = existsSync(join(folder, "LICENSE")) ? await readFile(join(folder, "LICENSE"), "utf8") : "";
  licences.push(`${name} ${version}, ${license}\n\n${text}`.trim());
}
await writeFile(join(built, "licences.txt"), `${licences.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);

// The graph is that of `axon graph`: its script, and the last part of its style.
await cp(join(pages, "graph.js"), join(built, "graph.js"));
const style = await readFile(join(pages, "page.css"), "utf8");
const at = style.indexOf("/* the graph */");
if (at < 0) throw new Error("page.css has no part about the graph");
const own = await readFile(join(here, "style.css"), "utf8");
await writeFile(join(built, "style.css"), `${style.slice(at)}\n${own}`);
await cp(join(here, "index.html"), join(built, "index.html"));

// What a program is called in the menu: a part of the paper by its section, another by its file.
async function program(path, group) {
  const text = await readFile(path, "utf8");
  const name = basename(path), stem = name.replace(/\.axon$/, "");
  const [, section, about] = /^# Section ([\d.]+)(.*)$/m.exec(text) ?? [];
  const title = section ? `${section} ${about.replace(/^.*?: /, "").split(/[:;.]/)[0].trim() || stem}` : stem;
  return { name, group, title: title.length > 48 ? `${title.slice(0, 47)}…` : title, text };
}

const found = [];
for (const [folder, group] of [["", "Networks"], ["paper", "The paper"]]) {
  const names = (await readdir(join(examples, folder))).filter((name) => name.endsWith(".axon")).sort();
  for (const name of names) found.push(await program(join(examples, folder, name), group));
}
const first = { ...(await program(join(here, "first.axon"), "Start")), title: "A first look" };
await writeFile(join(built, "examples.json"), JSON.stringify([first, ...found]));
for (const name of ["onnx/encoder.onnx", "onnx/broken.onnx", "torch/encoder.pt2"]) {
  await cp(join(examples, name), join(built, name.split("/")[1]));
}
