"""From the syntax tree to constraints, and back to schemes."""
