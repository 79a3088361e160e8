"""A small functional language whose tensor shapes are inferred."""
