"""Elements of small tensors, followed as numbers and dimensions."""
