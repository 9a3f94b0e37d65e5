"""Reader and writer of archives, the ZIP files of PyTorch's `save` and `load` functions."""
