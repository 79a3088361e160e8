"""The typed graph that a definition becomes at given argument types."""
