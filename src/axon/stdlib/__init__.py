"""Axon programs that ship with the language."""
