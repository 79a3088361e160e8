// "Why is this 16?": the answer, and a peek at the places that it follows from.
const vscode = require("vscode");

const WHY = "axon.why";

/** Show what the server answered to the question about a position; the client converts places. */
async function showAnswer(client, [uri, position], found) {
  if (!found) return;
  vscode.window.showInformationMessage(found.answer);
  if (found.places.length === 0) return;
  const convert = client.protocol2CodeConverter;
  await vscode.commands.executeCommand(
    "editor.action.peekLocations",
    convert.asUri(uri),
    convert.asPosition(position),
    found.places.map((place) => convert.asLocation(place.location)),
    "peek",
  );
}

module.exports = { WHY, showAnswer };
