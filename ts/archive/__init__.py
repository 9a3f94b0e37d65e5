"""Archives: the zip files that PyTorch's `save` functions write and its `load` functions read, both ways."""
