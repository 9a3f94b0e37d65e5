"""Decompositions of operators to PyTorch's core ATen operator set, one function for each operator."""
