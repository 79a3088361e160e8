// For readers without eyes or without a mouse: titles have a level, and what scrolls can be reached.
for (const title of document.querySelectorAll(".caption[role=heading]")) title.setAttribute("aria-level", "2");
for (const block of document.querySelectorAll("div.highlight pre, .table-wrapper")) {
  if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
}
