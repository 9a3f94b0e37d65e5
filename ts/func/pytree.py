"""Trees of tuples, lists and dictionaries: conversion of a tree to a list of leaves and back.

    >>> leaves, shape = flatten({"a": 1, "b": (2, 3)})
    >>> leaves, unflatten([10, 20, 30], shape)
    ([1, 2, 3], {'a': 10, 'b': (20, 30)})
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

LEAF = "*"


class TreeSpec:
    """Structure of a tree: type of the root (None for a leaf), and the name and TreeSpec of each branch."""

    def __init__(self, kind: Any, names: tuple[Any, ...], children: tuple[TreeSpec, ...]) -> None:
        self.kind = kind
        self.names = names
        self.children = children

    @property
    def count(self) -> int:
        """Number of leaves."""
        return 1 if self.kind is None else sum(child.count for child in self.children)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec) and self.kind is other.kind and self.names == other.names
            and self.children == other.children
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.kind is None:
            return LEAF
        children = ", ".join(map(repr, self.children))
        if self.kind is list:
            return f"[{children}]"
        if self.kind is tuple:
            return f"({children},)" if len(self.children) == 1 else f"({children})"
        pairs = ", ".join(
            f"{name!r}: {child!r}" for name, child in zip(self.names, self.children, strict=True)
        )
        return f"{{{pairs}}}" if self.kind is dict else f"{self.kind.__name__}({pairs})"


_LEAF_SHAPE = TreeSpec(None, (), ())


def _branches(x: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return the keys and the children of a tree's root, or None for a leaf."""
    kind = type(x)
    if kind in (dict, OrderedDict, defaultdict):
        return tuple(x), list(x.values())
    if kind in (list, tuple, deque):
        return (), list(x)
    if isinstance(x, tuple) and hasattr(kind, "_fields"):
        return kind._fields, list(x)
    return None


def flatten(x: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree in order, and the TreeSpec."""
    branches = _branches(x)
    if branches is None:
        return [x], _LEAF_SHAPE
    names, items = branches
    leaves: list[Any] = []
    children = []
    for item in items:
        child_leaves, child = flatten(item)
        leaves += child_leaves
        children.append(child)
    return leaves, TreeSpec(type(x), names, tuple(children))


def unflatten(leaves: Iterable[Any], shape: TreeSpec) -> Any:
    """Return the tree with the given structure and leaves."""
    rest = iter(leaves)

    def build(shape: TreeSpec) -> Any:
        if shape.kind is None:
            return next(rest)
        items = [build(child) for child in shape.children]
        if shape.kind is defaultdict:
            return defaultdict(None, zip(shape.names, items, strict=True))
        if shape.kind in (dict, OrderedDict):
            return shape.kind(zip(shape.names, items, strict=True))
        if hasattr(shape.kind, "_fields"):
            return shape.kind._make(items)
        return shape.kind(items)

    return build(shape)


def map_leaves(function: Callable[[Any], Any], x: Any) -> Any:
    """Return a tree with `function` applied to each leaf."""
    leaves, shape = flatten(x)
    return unflatten([function(leaf) for leaf in leaves], shape)


def broadcast(x: Any, shape: TreeSpec) -> list[Any] | None:
    """Return a list of values from `x`, with one value for each leaf of a tree with structure `shape`.

    A leaf of `x` is repeated for all leaves of the corresponding subtree. For example, `x = (0, None)` and
    the structure of `(a, (b, c))` result in `[0, None, None]`. Return None if the structure of `x` does not
    match.
    """
    if shape.kind is None:
        return [x] if _branches(x) is None else None
    branches = _branches(x)
    if branches is None:
        return [x] * shape.count
    names, items = branches
    if type(x) is not shape.kind or names != shape.names or len(items) != len(shape.children):
        return None
    expanded: list[Any] = []
    for item, child in zip(items, shape.children, strict=True):
        child_values = broadcast(item, child)
        if child_values is None:
            return None
        expanded += child_values
    return expanded
