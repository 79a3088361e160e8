// Python in a worker: loads Pyodide and the checker, then answers one request after the other.
const WHEEL = "axon.zip";

async function bytesOf(name) {
  const found = await fetch(new URL(name, import.meta.url));
  if (!found.ok) throw new Error(`${name} is not there (${found.status})`);
  return found.arrayBuffer();
}

async function start() {
  const wheel = bytesOf(WHEEL);
  const { loadPyodide } = await import("./pyodide/pyodide.mjs");
  const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href, stdout: () => {}, stderr: () => {} });
  postMessage({ state: "Loading the checker…" });
  python.unpackArchive(await wheel, "zip", { extractDir: "/axon" });
  return python.runPython(`
import sys
sys.path.insert(0, "/axon")
import json
from axon.playground.answers import Answers
answers = Answers()
def reply(request, data=None):
    request = json.loads(request)
    if data is not None:
        request["data"] = data.to_bytes()
    return json.dumps(answers.answer(request))
reply`);
}

const reply = start();
reply.then(() => postMessage({ ready: true }), (problem) => postMessage({ failed: String(problem.message ?? problem) }));

addEventListener("message", async ({ data: { id, request } }) => {
  try {
    const { data, ...rest } = request;
    const answered = (await reply)(JSON.stringify(rest), data);
    postMessage({ id, answer: JSON.parse(answered) });
  } catch (problem) {
    // Python itself may be broken now, by too deep a recursion or too little memory
    postMessage({ id, answer: { error: "The checker failed.", bug: String(problem) }, broken: true });
  }
});
