"""Which sizes of a program's inputs could be any, and what fixes the others."""
