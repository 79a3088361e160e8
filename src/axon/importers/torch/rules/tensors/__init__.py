"""Operators that make tensors, and move, select and join their elements."""
