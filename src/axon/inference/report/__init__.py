"""Reports about a definition: its signature, its errors, and answers to questions about it."""
