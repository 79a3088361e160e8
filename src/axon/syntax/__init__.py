"""Text to tree: what the other layers use of the syntax. `axon.syntax.printer` goes back."""

from __future__ import annotations

from axon.syntax.expanded import eta_expanded, with_defaults
from axon.syntax.mentioned import free_names, mentioned, sizes_mentioned
from axon.syntax.parser import parse_expression, parse_program, parse_signature
from axon.syntax.print_types import print_index, print_signature, print_type
from axon.syntax.replaced import replaced

__all__ = [
    "eta_expanded",
    "free_names",
    "mentioned",
    "parse_expression",
    "parse_program",
    "parse_signature",
    "print_index",
    "print_signature",
    "print_type",
    "replaced",
    "sizes_mentioned",
    "with_defaults",
]
