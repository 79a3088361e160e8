// The packaged extension: what is in it, and that its client loads, starts a server and stops it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";

const require = createRequire(import.meta.url);
const folder = join(import.meta.dirname, "../vscode");
const stub = require("./vscode-stub.cjs");
const { said, commands, executed, panels, providers, settings, uri } = stub.__stub;
const work = mkdtempSync(join(tmpdir(), "axon-extension-"));
const log = join(work, "log");
const axon = join(import.meta.dirname, "axon-stub.mjs");

/** The files of the package, by name. */
async function unpacked() {
  const { fromBuffer } = require("yauzl");
  const found = new Map();
  await new Promise((resolve, reject) => {
    fromBuffer(readFileSync(join(folder, "axon.vsix")), { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error);
      zip.on("entry", (entry) =>
        zip.openReadStream(entry, async (failed, stream) => {
          if (failed) return reject(failed);
          found.set(entry.fileName, Buffer.concat(await stream.toArray()));
          zip.readEntry();
        }),
      );
      zip.on("end", resolve);
      zip.readEntry();
    });
  });
  return found;
}

let files;
let extension;

before(async () => {
  files = await unpacked();
  process.env.AXON_STUB_LOG = log;
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? stub : load(name, ...rest));
  const bundle = new Module("extension.js");
  bundle.paths = [];
  bundle._compile(files.get("extension/dist/extension.js").toString(), join(work, "extension.js"));
  extension = bundle.exports;
});

after(() => rmSync(work, { recursive: true }));

beforeEach(() => {
  said.length = 0;
  panels.length = 0;
  settings.clear();
});

async function activated() {
  const context = { subscriptions: [] };
  await extension.activate(context);
  await context.started;
  return context;
}

test("the package has what its manifest names, and nothing else", () => {
  const manifest = JSON.parse(files.get("extension/package.json"));
  const { languages, grammars, snippets } = manifest.contributes;
  const named = [
    manifest.main,
    manifest.icon,
    languages[0].configuration,
    languages[0].icon.light,
    grammars[0].path,
    snippets[0].path,
    "package.json",
    "readme.md",
    "LICENSE.txt",
  ].map((name) => `extension/${name.replace(/^\.\//, "")}`);
  const own = ["[Content_Types].xml", "extension.vsixmanifest"];
  assert.deepEqual([...files.keys()].sort(), [...new Set([...named, ...own])].sort());
  assert.equal(languages[0].id, "axon");
  assert.deepEqual(languages[0].extensions, [".axon"]);
});

test("what is packaged can be read by the editor", () => {
  for (const [name, data] of files) if (name.endsWith(".json")) JSON.parse(data);
  const png = files.get("extension/icon.png");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.ok(png.readUInt32BE(16) >= 128);
  const configuration = JSON.parse(files.get("extension/language-configuration.json"));
  assert.equal("x'' + 1".match(new RegExp(configuration.wordPattern))[0], "x''");
  const { increaseIndentPattern } = configuration.indentationRules;
  assert.match("f = fn (x) {", new RegExp(increaseIndentPattern));
  assert.doesNotMatch("f = fn (x) { x };", new RegExp(increaseIndentPattern));
});

test("the client starts the server, restarts it and stops it", async () => {
  settings.set("path", axon);
  await activated();
  assert.deepEqual(said, []);
  await commands.get("axon.restartServer")();
  await extension.deactivate();
  const requests = readFileSync(log, "utf8").trim().split("\n");
  const counted = (name) => requests.filter((request) => request === name).length;
  assert.equal(counted("initialize"), 2);
  assert.equal(counted("initialized"), 2);
  assert.equal(counted("shutdown"), 2);
});

test("the answer to a question is shown with a peek at its places", async () => {
  settings.set("path", axon);
  await activated();
  const position = { line: 0, character: 2 };
  await commands.get("axon.why")("file:///x/net.axon", position, "n");
  await extension.deactivate();
  assert.ok(said.includes("n is 16"));
  const [[name, at, , places, shown]] = executed;
  assert.equal(name, "editor.action.peekLocations");
  assert.equal(at.path, "/x/net.axon");
  assert.equal(places.length, 1);
  assert.equal(shown, "peek");
});

test("inlay hints are the server's, and none where they are off", async () => {
  settings.set("path", axon);
  await activated();
  const document = { uri: uri("/x/net.axon"), languageId: "axon", version: 1 };
  const place = { line: 0, character: 0 };
  const hints = () =>
    providers.hints.provideInlayHints(document, { start: place, end: place }, { onCancellationRequested() {} });
  assert.equal((await hints()).length, 1);
  settings.set("inlayHints.enabled", false);
  assert.equal((await hints()).length, 0);
  await extension.deactivate();
});

test("a changed setting takes effect", async () => {
  settings.set("path", join(work, "no-axon"));
  await activated();
  settings.set("path", axon);
  const starts = () => readFileSync(log, "utf8").split("initialized").length;
  const before = starts();
  await providers.changed({ affectsConfiguration: (name) => name === "editor.tabSize" });
  assert.equal(starts(), before);
  await providers.changed({ affectsConfiguration: (name) => name === "axon.path" });
  await extension.deactivate();
  assert.equal(starts(), before + 1);
});

test("a command that is not there gets a message that says what to do", async () => {
  settings.set("path", join(work, "no-axon"));
  await activated();
  assert.match(said.at(-1), /'.*no-axon' was not found\. Install Axon .* axon\.path/);
  await extension.deactivate();
});

test("the derivation of a program is shown, errors in it or not", async () => {
  settings.set("path", axon);
  await activated();
  const document = (path) => ({ languageId: "axon", uri: uri(path), save: async () => true });
  stub.window.activeTextEditor = { document: document("/x/net.axon") };
  await commands.get("axon.showDerivation")();
  assert.equal(panels[0].webview.html, "<title>/x/net.axon</title>");
  stub.window.activeTextEditor = { document: document("/x/missing.axon") };
  await commands.get("axon.showDerivation")();
  assert.equal(panels.length, 1);
  assert.match(said.at(-1), /there is no file missing\.axon/);
  stub.window.activeTextEditor = undefined;
  await commands.get("axon.showDerivation")();
  assert.match(said.at(-1), /Open a file of Axon first/);
  await extension.deactivate();
});

test("every command of the manifest is there", async () => {
  settings.set("path", axon);
  await activated();
  const manifest = JSON.parse(files.get("extension/package.json"));
  const named = manifest.contributes.commands.map(({ command }) => command);
  assert.deepEqual([...commands.keys()].filter((name) => named.includes(name)).sort(), named.sort());
  await extension.deactivate();
});
