"""Operators that compute with elements: one by one, along axes, and as signals."""
