"""Sequences of tensors."""
