"""Reference pages: of operators and the standard library, and of a user's own programs."""
