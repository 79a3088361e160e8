// A program in the fragment of a link: compressed, in base 64 with - and _. It is read with a limit:
// a short link may stand for a very long text.
const LARGEST = 200_000;

const squeeze = (stream) => new Blob([stream]).stream().pipeThrough(new CompressionStream("deflate-raw"));

export async function written(text) {
  const bytes = new Uint8Array(await new Response(squeeze(new TextEncoder().encode(text))).arrayBuffer());
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// The text; an Error with a sentence says why there is none.
export async function read(fragment) {
  let bytes;
  try {
    const letters = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error("The link is damaged: what it carries is no program.");
  }
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    let next;
    try {
      next = await reader.read();
    } catch {
      throw new Error("The link is damaged: what it carries is no program.");
    }
    if (next.done) break;
    size += next.value.length;
    if (size > LARGEST) {
      reader.cancel();
      throw new Error("The program of the link is longer than 200 kB, and was not opened.");
    }
    parts.push(next.value);
  }
  return new TextDecoder().decode(await new Blob(parts).arrayBuffer());
}
