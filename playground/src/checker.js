// The checker, wherever it runs. One request is answered at a time; of those that wait, a newer one
// of the same key replaces the older. One that takes too long is stopped, and the checker starts anew.
const LIMIT_MS = 10_000;
const FIRST_LIMIT_MS = 30_000; // of the first question of its kind, which loads what answers it

class InWorker {
  constructor(on) {
    this.on = on;
    this.start();
  }

  start() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.ready = new Promise((resolve, reject) => {
      this.worker.addEventListener("message", ({ data }) => {
        if (data.ready) resolve();
        else if (data.failed) reject(new Error(data.failed));
        else if (data.state) this.on(data.state);
      });
      this.worker.addEventListener("error", (event) => reject(new Error(event.message || "the worker did not start")));
    });
  }

  ask(request) {
    const id = Math.random();
    return new Promise((resolve) => {
      this.worker.addEventListener("message", function answered({ data, target }) {
        if (data.id !== id) return;
        target.removeEventListener("message", answered);
        resolve(data);
      });
      this.worker.postMessage({ id, request });
    }).then(({ answer, broken }) => {
      if (broken) this.stop();
      return answer;
    });
  }

  stop() {
    this.worker.terminate();
    this.start();
  }
}

// The Python that serves this page.
class AtServer {
  constructor(token) {
    this.token = token;
    this.ready = Promise.resolve();
    this.control = new AbortController();
  }

  async ask({ data, ...request }) {
    const headers = { "X-Axon-Token": this.token, "Content-Type": "application/json" };
    if (data) request.data = await base64(data);
    try {
      const found = await fetch("api/answer", { method: "POST", headers, body: JSON.stringify(request), signal: this.control.signal });
      return await found.json();
    } catch {
      return { error: "`axon play` does not answer: is it still running?" };
    }
  }

  stop() { // which stops by itself what takes too long
    this.control.abort();
    this.control = new AbortController();
  }
}

function base64(data) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.readAsDataURL(new Blob([data]));
  });
}

export class Checker {
  constructor(where, token, on) {
    this.on = on; // (state, text): what it does now
    this.engine = where === "server" ? new AtServer(token) : new InWorker((text) => on("loading", text));
    this.waiting = [];
    this.busy = false;
    this.files = null;
    this.wait();
  }

  // What programs may import; kept for a checker that starts anew.
  give(files) {
    this.files = files;
    return this.ask({ kind: "files", files }, "files");
  }

  // The answer; null if a newer request took its place; {stopped} if it took too long.
  ask(request, key) {
    return new Promise((resolve) => {
      const at = this.waiting.findIndex((each) => each.key === key);
      if (at >= 0) this.waiting.splice(at, 1)[0].resolve(null);
      this.waiting.push({ request, key, resolve });
      this.next();
    });
  }

  async wait() {
    this.up = false;
    this.answered = new Set(); // the kinds of question
    this.on("loading", "Loading Python…");
    try {
      await this.engine.ready;
      this.up = true;
      this.on("ready", "Ready");
      this.next();
    } catch (problem) {
      this.on("failed", `Python did not load: ${problem.message}`);
    }
  }

  // What else is asked of a text that took too long would take as long.
  giveUp(text) {
    const about = (each) => text !== undefined && each.request.text === text;
    const without = this.waiting.filter(about);
    this.waiting = this.waiting.filter((each) => !about(each));
    for (const each of without) each.resolve({ stopped: true });
  }

  async next() {
    if (this.busy || !this.up || !this.waiting.length) return;
    this.busy = true;
    const { request, resolve } = this.waiting.shift();
    const engine = this.engine;
    let timer;
    const limit = this.answered.has(request.kind) ? LIMIT_MS : FIRST_LIMIT_MS;
    const late = new Promise((done) => { timer = setTimeout(done, limit, { stopped: true }); });
    const busy = setTimeout(() => this.on("busy", "Checking…"), 300);
    const answer = await Promise.race([engine.ask(request), late]);
    clearTimeout(timer);
    clearTimeout(busy);
    this.busy = false;
    if (answer.stopped || answer.bug) {
      if (answer.stopped) {
        engine.stop();
        this.giveUp(request.text);
      }
      if (this.files) this.waiting.unshift({ request: { kind: "files", files: this.files }, key: "files", resolve: () => {} });
      this.wait();
    } else {
      this.answered.add(request.kind);
      this.on("ready", "Ready");
    }
    resolve(answer);
    this.next();
  }
}

export const SECONDS = LIMIT_MS / 1000;
