"""Constraints with reasons, and the store that solves them."""
