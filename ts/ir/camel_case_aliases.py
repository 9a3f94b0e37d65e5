"""Aliases of methods under PyTorch's camelCase names.

add_camel_case_aliases(Node, inputsAt="input")          node.inputsAt(0) is node.input(0)
"""

from __future__ import annotations


def add_camel_case_aliases(cls: type, **methods: str) -> None:
    """Add aliases for methods of a class. Each keyword is an alias, and its value is the name of a method."""
    for name, method in methods.items():
        setattr(cls, name, getattr(cls, method))
