"""Operators with graphs inside, and sequences, which loops collect."""
