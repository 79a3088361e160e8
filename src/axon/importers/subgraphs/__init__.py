"""Subgraphs of operations: branches, and bodies of loops."""
