"""Decompositions of operators to PyTorch's core operators, one function for each operator."""
