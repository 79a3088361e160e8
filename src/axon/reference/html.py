"""Pages about programs, as one HTML file without scripts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from axon.reference.program import Entry, Page

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: #0b63c5; }
@media (prefers-color-scheme: dark) { :root { --link: #7fb6ff; } }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0; display: grid;
  grid-template-columns: minmax(11rem, 16rem) minmax(0, 50rem); gap: 2.5rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto;
  padding: 2rem 0 2rem 1.5rem; box-sizing: border-box; }
nav ul { list-style: none; padding: 0; margin: 0 0 1rem; }
nav a, main a { color: var(--link); text-decoration: none; }
nav a:hover, main a:hover { text-decoration: underline; }
main { padding: 1.5rem 1.5rem 6rem 0; }
h2 { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { margin-top: 2rem; }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: 6px; padding: 0.7rem 1rem; overflow-x: auto; }
pre.signature { white-space: pre-wrap; }
pre.signature span { white-space: nowrap; }
p code, li code { background: var(--soft); border-radius: 4px; padding: 0.1em 0.3em; }
.kind { font-size: 0.75rem; font-weight: normal; opacity: 0.75; margin-left: 0.5em; }
@media (max-width: 48rem) { body { display: block; } nav { position: static; max-height: none;
  padding: 1rem 1rem 0; } main { padding: 0 1rem 3rem; } }
"""


def as_html(pages: Sequence[Page]) -> str:
    """One file with all pages."""
    title = html.escape(pages[0].title if len(pages) == 1 else "Reference")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    body = "\n".join(line for i, page in enumerate(pages) for line in _page(page, i))
    listed = "\n".join(line for i, page in enumerate(pages) for line in _contents(page, i))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<nav aria-label="Definitions">\n{listed}\n</nav>\n<main>\n{body}\n</main>\n'
        "</body>\n</html>\n"
    )


def _contents(page: Page, number: int) -> Iterator[str]:
    yield f'<a href="#{number}">{html.escape(page.title)}</a>\n<ul>'
    for at, entry in enumerate(page.entries):
        yield f'<li><a href="#{number}-{at}"><code>{html.escape(entry.name)}</code></a></li>'
    yield "</ul>"


def _page(page: Page, number: int) -> Iterator[str]:
    yield f'<h1 id="{number}">{html.escape(page.title)}</h1>'
    yield from _text(page.text)
    if page.imports:
        listed = "".join(
            f"<li><code>{html.escape(alias)}</code> is <code>{html.escape(path)}</code></li>"
            for alias, path in page.imports
        )
        yield f"<p>Imports:</p><ul>{listed}</ul>"
    for at, entry in enumerate(page.entries):
        yield from _entry(entry, f"{number}-{at}")


def _entry(entry: Entry, anchor: str) -> Iterator[str]:
    kind = "" if entry.kind == "definition" else f'<span class="kind">{entry.kind}</span>'
    yield f'<h2 id="{anchor}"><code>{html.escape(entry.name)}</code>{kind}</h2>'
    lines = [entry.code]
    if entry.conditions:
        lines.append(f"  where {', '.join(entry.conditions)}")
    if entry.plain is not None:
        lines.append(f"plain: {entry.plain}")
    signature = html.escape("\n".join(lines)).replace("-&gt;", "<span>-&gt;</span>")
    yield f'<pre class="signature" tabindex="0">{signature}</pre>'
    yield from _text(entry.text)
    if entry.checks:
        listed = "".join(f"<li><code>{html.escape(check)}</code></li>" for check in entry.checks)
        yield f"<p>Checked when it is called:</p><ul>{listed}</ul>"
    if entry.parameters:
        yield f'<p>Parameters:</p><pre tabindex="0">{html.escape(entry.parameters)}</pre>'


def _text(text: str) -> Iterator[str]:
    """Paragraphs of a comment, with what is between backquotes as code."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph:
            parts = re.split(r"`([^`\n]+)`", paragraph)
            shown = (
                f"<code>{html.escape(part)}</code>" if i % 2 else html.escape(part)
                for i, part in enumerate(parts)
            )
            yield f"<p>{''.join(shown)}</p>"
