"""What is said of a model."""
