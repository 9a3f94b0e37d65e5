"""Lists that are also iterators, like the lists that PyTorch's graph methods return.

Each line shows a call with `next` and a use as a list:

    next(graph.inputs())        the first input             graph.inputs()[1]           the second input
    next(if_node.blocks())      the first block             list(if_node.blocks())      both blocks
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class IterableList(list[T]):
    """List that is also an iterator over its elements: each call of `next` returns the next element.

    It does not change when the list that it was copied from changes.
    """

    __slots__ = ("_used_names",)

    def __next__(self) -> T:
        index = getattr(self, "_used_names", 0)
        if index >= len(self):
            raise StopIteration
        self._used_names = index + 1
        return self[index]


class ValueList(list[T]):
    """List of a node's inputs or outputs, which is also an iterator over its elements.

    Each call of `inputs()` or `outputs()` restarts the iteration.
    """

    __slots__ = ("_position",)
    _position: int

    def __next__(self) -> T:
        position = self._position
        if position >= len(self):
            raise StopIteration
        self._position = position + 1
        return self[position]
