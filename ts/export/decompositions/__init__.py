"""Decompositions: operators in terms of those of PyTorch's core set, one function for each."""
