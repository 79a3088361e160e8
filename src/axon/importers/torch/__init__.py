"""PyTorch programs, as `torch.export.save` writes them, read without PyTorch."""
