"""Habits of other languages, and what might help: messages that propose how Axon writes it."""
