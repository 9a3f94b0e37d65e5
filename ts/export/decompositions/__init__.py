"""Decompositions of operators to PyTorch's core operators, one function each."""
