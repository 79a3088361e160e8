// The client: starts `axon lsp`, and shows derivations.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { commandOf, missingMessage, problemOf } = require("./command");
const { derivation } = require("./derivation");
const { WHY, showAnswer } = require("./peek");

let client;
let output;

async function start() {
  const { command, cwd } = commandOf(vscode);
  const problem = await problemOf(command, cwd);
  if (problem) {
    await explainMissing(command, problem);
    return;
  }
  const server = { command, args: ["lsp"], options: { cwd } };
  client = new LanguageClient("axon", "Axon", server, {
    documentSelector: [{ scheme: "file", language: "axon" }, { scheme: "untitled", language: "axon" }],
    outputChannel: output,
    initializationOptions: { showAnswers: false },
    middleware: {
      executeCommand: async (name, given, next) => {
        const found = await next(name, given);
        if (name === WHY) await showAnswer(client, given, found);
        return found;
      },
      provideInlayHints: (document, range, token, next) =>
        vscode.workspace.getConfiguration("axon", document).get("inlayHints.enabled", true)
          ? next(document, range, token)
          : [],
    },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined; // the client has shown a message of its own
    output.appendLine(String(error));
  }
}

async function stop() {
  const stopped = client;
  client = undefined;
  if (stopped) await stopped.stop().catch((error) => output.appendLine(String(error)));
}

async function explainMissing(command, error) {
  output.appendLine(String(error));
  const settings = "Open Settings";
  const chosen = await vscode.window.showErrorMessage(missingMessage(command, error), settings, "Try Again");
  if (chosen === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "axon.path");
  } else if (chosen) {
    await start();
  }
}

async function restart() {
  await stop();
  await start();
}

async function showDerivation() {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "axon" || document.uri.scheme !== "file") {
    vscode.window.showInformationMessage("Open a file of Axon first.");
    return;
  }
  if (!(await document.save())) return;
  const { command, cwd } = commandOf(vscode, document.uri);
  try {
    const page = await derivation(command, document.uri.fsPath, cwd);
    const panel = vscode.window.createWebviewPanel(
      "axonDerivation",
      `Types of ${vscode.workspace.asRelativePath(document.uri)}`,
      vscode.ViewColumn.Beside,
      { enableScripts: true, localResourceRoots: [] },
    );
    panel.webview.html = page;
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "EACCES") await explainMissing(command, error);
    else vscode.window.showErrorMessage(`axon explain: ${error.message}`);
  }
}

async function activate(context) {
  output = vscode.window.createOutputChannel("Axon");
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("axon.restartServer", restart),
    vscode.commands.registerCommand("axon.showDerivation", showDerivation),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      // A new start also asks for the hints again.
      const settings = ["axon.path", "axon.inlayHints"];
      if (settings.some((name) => change.affectsConfiguration(name))) await restart();
    }),
  );
  // Not waited for: the commands work while the message about a missing `axon` is open.
  context.started = start();
}

module.exports = { activate, deactivate: stop };
