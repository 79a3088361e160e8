#!/usr/bin/env node
// Stands in for `axon`: a server that writes down which requests it was sent, and a derivation.
import { appendFileSync, writeFileSync } from "node:fs";

const RESULTS = {
  initialize: {
    capabilities: {
      inlayHintProvider: true,
      codeActionProvider: true,
      executeCommandProvider: { commands: ["axon.why"] },
    },
  },
  "workspace/executeCommand": {
    answer: "n is 16",
    places: [
      {
        text: "argument 1 of matmul",
        location: {
          uri: "file:///x/net.axon",
          range: { start: { line: 3, character: 4 }, end: { line: 3, character: 5 } },
        },
      },
    ],
  },
  "textDocument/inlayHint": [{ position: { line: 0, character: 1 }, label: ": f32 [n]" }],
};

const [command, ...rest] = process.argv.slice(2);

function send(message) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function answer(message) {
  appendFileSync(process.env.AXON_STUB_LOG, `${message.method}\n`);
  if (message.method === "exit") process.exit(0);
  if (message.id === undefined) return;
  send({ id: message.id, result: RESULTS[message.method] ?? null });
}

if (command === "--version") {
  console.log("axon 0.2.0");
} else if (command === "explain") {
  const [file, , page] = rest;
  if (file.endsWith("missing.axon")) {
    console.error("axon: there is no file missing.axon");
    process.exitCode = 2;
  } else {
    writeFileSync(page, `<title>${file}</title>`);
    process.exitCode = 1; // the program has errors
  }
} else if (command === "lsp") {
  let text = Buffer.alloc(0);
  process.stdin.on("data", (data) => {
    text = Buffer.concat([text, data]);
    for (;;) {
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(text.subarray(0, end))[1]);
      if (text.length < end + 4 + length) return;
      const body = text.subarray(end + 4, end + 4 + length);
      text = text.subarray(end + 4 + length);
      answer(JSON.parse(body));
    }
  });
}
