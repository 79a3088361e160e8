// Which command `axon` is, and what to say when there is none.
const { execFile } = require("node:child_process");

function commandOf(vscode, uri) {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const own = uri && vscode.workspace.getWorkspaceFolder(uri);
  const cwd = (own ?? folders[0])?.uri.fsPath;
  const written = vscode.workspace.getConfiguration("axon", uri).get("path", "axon").trim() || "axon";
  return { command: written.replaceAll("${workspaceFolder}", cwd ?? "."), cwd };
}

/** Why the command cannot be run, or undefined. */
function problemOf(command, cwd) {
  return new Promise((resolve) => {
    execFile(command, ["--version"], { cwd, timeout: 20_000 }, (error) => resolve(error ?? undefined));
  });
}

function missingMessage(command, error) {
  return error?.code === "ENOENT"
    ? `The command '${command}' was not found. Install Axon (in a checkout: pip install .), or set ` +
        "axon.path to where it is, such as ${workspaceFolder}/.venv/bin/axon."
    : `'${command}' did not start: ${error?.message ?? error}`;
}

module.exports = { commandOf, problemOf, missingMessage };
