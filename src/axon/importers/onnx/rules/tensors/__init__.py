"""Operators that move, select and join elements, and say what sizes are."""
