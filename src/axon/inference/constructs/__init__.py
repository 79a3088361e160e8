"""Constructs of the language that are more than a call: lists, branches, records, subscripts."""
