// Elements are made here, and text from programs is written as text only.
export const $ = (id) => document.getElementById(id);

export function el(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function button(className, text, action) {
  const node = el("button", className, text);
  node.type = "button";
  node.addEventListener("click", action);
  return node;
}

// A sentence, with what stands in backquotes as code.
export function prose(text) {
  const out = document.createDocumentFragment();
  text.split("`").forEach((part, i, all) => {
    if (i % 2 && i + 1 < all.length) out.append(el("code", "", part));
    else out.append(i % 2 ? `\`${part}` : part);
  });
  return out;
}

// Read aloud by screen readers.
export function announce(text) {
  $("live").textContent = "";
  setTimeout(() => { $("live").textContent = text; }, 50);
}

export const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";
