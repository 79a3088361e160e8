// What the client needs of the module `vscode` to load, start and stop. What is not listed here is
// a class without members, or a function that gives something to dispose of.
const said = [];
const commands = new Map();
const panels = [];
const executed = [];
const providers = {};
const settings = new Map();
const disposable = { dispose() {} };

class Anything {
  constructor(...given) {
    Object.assign(this, { given });
  }
}

const uri = (path) => ({ scheme: "file", fsPath: path, path, toString: () => `file://${path}` });

class EventEmitter {
  event = () => disposable;
  fire() {}
  dispose() {}
}

/** Listed members, and for the rest functions that give a disposable. */
const open = (listed) =>
  new Proxy(listed, {
    get: (from, name) => (name in from ? from[name] : name === "then" ? undefined : () => disposable),
  });

const kind = (value) => ({ value, append: (part) => kind(value ? `${value}.${part}` : part) });

const vscode = {
  CodeActionKind: { Empty: kind("") },
  EventEmitter,
  Disposable: class {
    static from() {
      return disposable;
    }
    dispose() {}
  },
  Uri: { file: uri, parse: (text) => uri(text.replace("file://", "")) },
  ViewColumn: { Beside: -2 },
  version: "1.82.0",
  env: open({ language: "en", appName: "stub", createTelemetryLogger: () => disposable }),
  l10n: { t: (text) => text },
  window: open({
    activeTextEditor: undefined,
    tabGroups: { all: [], onDidChangeTabs: () => disposable },
    visibleTextEditors: [],
    createOutputChannel: () => open({ appendLine: (line) => said.push(line), append() {} }),
    showErrorMessage: async (message) => void said.push(message),
    showInformationMessage: async (message) => void said.push(message),
    createWebviewPanel: (type, title) => {
      const panel = { type, title, webview: { html: "" } };
      panels.push(panel);
      return panel;
    },
  }),
  workspace: open({
    workspaceFolders: undefined,
    onDidChangeConfiguration: (listener) => {
      providers.changed = listener;
      return disposable;
    },
    textDocuments: [],
    notebookDocuments: [],
    getConfiguration: () => ({ get: (name, otherwise) => settings.get(name) ?? otherwise }),
    getWorkspaceFolder: () => undefined,
    asRelativePath: (given) => given.fsPath,
    createFileSystemWatcher: () => open({}),
  }),
  languages: open({
    match: () => 0,
    registerInlayHintsProvider: (_, provider) => {
      providers.hints = provider;
      return disposable;
    },
    createDiagnosticCollection: () => open({}),
  }),
  commands: {
    registerCommand: (name, run) => {
      commands.set(name, run);
      return disposable;
    },
    executeCommand: async (...given) => void executed.push(given),
  },
  extensions: open({ all: [] }),
};

const enumerations = new Map();

module.exports = new Proxy(vscode, {
  get(from, name) {
    if (name in from) return from[name];
    if (name === "__stub") return { said, commands, executed, panels, providers, settings, uri };
    if (typeof name !== "string" || !/^[A-Z]/.test(name)) return undefined;
    if (!enumerations.has(name)) enumerations.set(name, class extends Anything {});
    return enumerations.get(name);
  },
  has: () => true,
});
