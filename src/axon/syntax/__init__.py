"""Text to tree and back: what the other layers may use of the syntax."""

from __future__ import annotations

from axon.syntax.parser import parse_expression, parse_program, parse_signature

__all__ = [
    "parse_expression",
    "parse_program",
    "parse_signature",
]
