"""Signatures, tables and messages as HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from axon.diagnostics import Diagnostic
from axon.diagnostics.html import STYLE, diagnostics_html, escape
from axon.inference.report.signature import Signature

TABLES = """\
.axon-said table{border-collapse:collapse;margin:.4em 0;font:inherit;color:inherit}
.axon-said table tr,.axon-said table thead{background:none!important;border:0}
.axon-said table th,.axon-said table td{text-align:left;vertical-align:top;padding:.25em 1.2em \
.25em 0;border:0;border-bottom:1px solid var(--axon-line);font:inherit;white-space:pre;\
color:inherit}
.axon-said table th{opacity:.65;font-weight:600}
.axon-said table td.axon-count{text-align:right}
.axon-said table tr.axon-total td{font-weight:600}
.axon-said table td.axon-name{font-weight:600}
.axon-said table tr.axon-first td{border-bottom:0;padding-bottom:0}
.axon-where{opacity:.75}
.axon-said details{margin:.3em 0}
.axon-said summary{cursor:pointer}
.axon-said pre{margin:.3em 0;padding:0;background:none;color:inherit;font:inherit;white-space:pre;\
overflow-x:auto}
.axon-doc{font-family:var(--jp-content-font-family,system-ui,sans-serif);white-space:pre-line}
.axon-scroll{overflow-x:auto}
.axon-picture{background:#fff;border-radius:6px;padding:8px;max-width:100%}
"""


def framed(*pieces: str) -> str:
    """Pieces with the rules of their classes; nothing outside is affected."""
    return f'<div class="axon-said"><style>{STYLE}{TABLES}</style>{"".join(pieces)}</div>'


# --- signatures ------------------------------------------------------------------


def signatures_html(
    signatures: Sequence[Signature], readings: Sequence[str | None] | None = None
) -> str:
    """A row for each definition, and one for its plain reading if it has one."""
    heads = "".join(f"<th>{each}</th>" for each in ("definition", "parameters", "result"))
    body = "".join(
        _rows(signature, readings[at] if readings is not None else None)
        for at, signature in enumerate(signatures)
    )
    return (
        f'<div class="axon-scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _rows(signature: Signature, reading: str | None) -> str:
    params = "\n".join(f"{name} : {type_}" for name, type_ in signature.params)
    result = signature.result if signature.params else signature.signature
    where = "".join(f"\nwhere {each}" for each in signature.where)
    row = (
        f'<td class="axon-name">{escape(signature.name)}</td><td>{escape(params)}</td>'
        f'<td>{escape(result)}<span class="axon-where">{escape(where)}</span></td>'
    )
    if reading is None:
        return f"<tr>{row}</tr>"
    read = (
        f'<td></td><td colspan="2"><span class="axon-where">plainly</span> {escape(reading)}</td>'
    )
    return f'<tr class="axon-first">{row}</tr><tr>{read}</tr>'


def rows_html(rows: Iterable[tuple[str, str]]) -> str:
    """Names, and what there is to say of each."""
    body = "".join(
        f'<tr><td class="axon-name">{escape(name)}</td><td>{escape(text)}</td></tr>'
        for name, text in rows
    )
    return f'<div class="axon-scroll"><table><tbody>{body}</tbody></table></div>'


Count = int | str | None
Row = tuple[str, str, Count, Count]


def parameters_html(rows: Iterable[Row], total: Row) -> str:
    """A table of parameters: names, types, how many numbers and bytes."""
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    heads = "".join(f"<th>{head}</th>" for head in ("parameter", "type", "count", "bytes"))
    return (
        f'<div class="axon-scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}'
        f'<tr class="axon-total">{_cells(total)}</tr></tbody></table></div>'
    )


def _cells(row: Row) -> str:
    name, type_, count, size = row
    texts = (escape(name), escape(type_), _count(count), _count(size))
    classes = ("", "", ' class="axon-count"', ' class="axon-count"')
    return "".join(f"<td{c}>{text}</td>" for c, text in zip(classes, texts, strict=True))


def _count(count: Count) -> str:
    return "" if count is None else f"{count:,}" if isinstance(count, int) else escape(count)


def folded(title: str, inner: str, is_open: bool = False) -> str:
    """A piece that opens at a click."""
    return f"<details{' open' if is_open else ''}><summary>{title}</summary>{inner}</details>"


def text_html(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


# --- errors ----------------------------------------------------------------------------------


def problem_html(message: str, diagnostics: Iterable[Diagnostic]) -> str:
    head = f'<div class="axon-head">{escape(message)}</div>' if message else ""
    return head + diagnostics_html(diagnostics)
