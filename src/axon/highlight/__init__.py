"""Syntax highlighting: what a token is called by its text alone, for the grammars of editors."""
