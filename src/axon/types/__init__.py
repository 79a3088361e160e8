"""Dimensions, shapes, types and schemes."""
