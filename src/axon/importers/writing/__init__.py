"""The program that a model becomes."""
