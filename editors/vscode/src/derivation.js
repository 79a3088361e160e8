// The page that `axon explain --html` writes.
const { execFile } = require("node:child_process");
const { mkdtemp, readFile, rm } = require("node:fs/promises");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

async function derivation(command, file, cwd) {
  const folder = await mkdtemp(join(tmpdir(), "axon-"));
  const page = join(folder, "derivation.html");
  try {
    const said = await new Promise((resolve, reject) => {
      const settings = { cwd, timeout: 60_000, maxBuffer: 1 << 26 };
      execFile(command, ["explain", file, "--html", page], settings, (error, _, stderr) => {
        // 1: the program has errors, which the page shows
        if (error && error.code !== 1) {
          error.message = stderr.trim() || error.message;
          reject(error);
        } else {
          resolve(stderr);
        }
      });
    });
    return await readFile(page, "utf8").catch(() => {
      throw new Error(said.trim() || "no page was written");
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

module.exports = { derivation };
