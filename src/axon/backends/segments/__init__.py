"""All rows of a ragged tensor at once: a function is applied to their packed elements."""
