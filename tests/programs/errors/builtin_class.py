"""Builtin classes of Python accept tensors only."""


def main():
    return set([1, 2])  # expect error: Expected a value of type 'Tensor'
