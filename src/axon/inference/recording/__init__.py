"""What inference found for each expression, kept for graphs, editors and derivations."""
