"""Compile-time values of `range`, `zip`, `enumerate`, `reversed` and `slice` calls.

Loops, comprehensions and subscripts use these values, so no object is created at run time. Each line shows a
use and its value:

    for i in range(2, n)         RangeValue: length aten::__range_length, elements aten::__derive_index
    for a, b in zip(xs, ys)      IterableTree([SimpleValue(%xs), SimpleValue(%ys)])
    x[slice(1, None)]            SliceValue(%1, None, None), like x[1:]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ts.errors import CompilationError
from ts.frontend import hints
from ts.frontend.schema_matching import emit_builtin_call
from ts.frontend.sugared_values.sugared import SimpleValue, SugaredTuple, SugaredValue
from ts.ir.source import SourceRange
from ts.ir.types import INT, TENSOR
from ts.ir.value import Value

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter


class SliceValue(SugaredValue):
    """Slice object `slice(start, stop, step)`. Omitted bounds are None."""

    kind = "Python slice value"

    def __init__(self, start: Value | None, stop: Value | None, step: Value | None) -> None:
        self.start = start
        self.stop = stop
        self.step = step


class StaticLengthIterable(SugaredValue):
    """Iterable whose length may be known at compile time. In this case, loops over it are unrolled."""

    static_length: int | None

    @property
    def unrolled(self) -> bool:
        """True if the length is known at compile time."""
        return self.static_length is not None

    def static_len(self) -> int | None:
        """Return the length that is known at compile time, or None."""
        return self.static_length

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Return `self`, which already is an iterable."""
        return self


class RangeValue(StaticLengthIterable):
    """Iterable `range(...)`. Its length and elements are computed without a list."""

    kind = "range"

    def __init__(
        self, em: Emitter, range: SourceRange, args: Sequence[Value], static_length: int | None = None
    ) -> None:
        for i, arg in enumerate(args):
            if arg.type() is not INT:
                raise CompilationError(
                    f"all inputs of range must be ints, found {arg.type().repr_str} in argument {i}",
                    range,
                    hints.not_annotated(arg) or "convert it: `range(int(x))`",
                )
        if not args:
            raise CompilationError("range expected at least 1 arguments, got 0", range)
        if len(args) > 3:
            raise CompilationError(f"range expected at most 3 arguments, got {len(args)}", range)
        self.only_end = len(args) == 1
        if self.only_end:
            self.end = args[0]
            self.start = em.constant(0, range)
            self.step = em.constant(1, range)
        else:
            self.start, self.end = args[0], args[1]
            self.step = args[2] if len(args) == 3 else em.constant(1, range)
        self.static_length = static_length

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Emit the number of elements: `end`, or `aten::__range_length`."""
        if self.only_end:
            return self.end
        return emit_builtin_call(range, em.graph, "aten::__range_length", [self.start, self.end, self.step])

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Emit element `index`: the index itself for `range(end)`, or `aten::__derive_index`."""
        if self.only_end:
            return SimpleValue(index)
        args = [index, self.start, self.step]
        return SimpleValue(emit_builtin_call(range, em.graph, "aten::__derive_index", args))


class ReversedValue(SugaredValue):
    """Iterable `reversed(xs)`: the elements of `xs` in reverse order, without a copy."""

    kind = "reversed"

    def __init__(self, em: Emitter, range: SourceRange, iterable: SugaredValue) -> None:
        self.iterable = iterable
        length = iterable.static_len()
        self.length = iterable.len(em, range) if length is None else em.constant(length, range)

    @property
    def unrolled(self) -> bool:
        """True if loops over the underlying iterable are unrolled."""
        return self.iterable.unrolled

    def static_len(self) -> int | None:
        """Return the length of the underlying iterable if it is known at compile time, or None."""
        return self.iterable.static_len()

    def iter(self, em: Emitter, range: SourceRange) -> SugaredValue:
        """Return `self`, which already is an iterable."""
        return self

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Return the length, which was emitted when `reversed` was called."""
        return self.length

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Emit `aten::flip` for a tensor. Raise CompilationError for any other iterable."""
        tensor = self.iterable.simple
        if tensor is None or not tensor.type().is_subtype_of(TENSOR):
            raise CompilationError(
                f"{self.kind} cannot be used as a value: convert it to a list with `list(reversed(...))`",
                range,
            )
        dims = em.list(INT, [em.constant(0, range)])
        return emit_builtin_call(range, em.graph, "aten::flip", [tensor, dims])

    def as_tuple(self, em: Emitter, range: SourceRange, size: int | None = None) -> list[SugaredValue]:
        """Return the elements of the underlying iterable, last one first."""
        return self.iterable.as_tuple(em, range, size)[::-1]

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Emit the item at `index` from the end of the underlying iterable."""
        length = self.static_len()
        if length is not None:
            position = index.to_ivalue()
            assert isinstance(position, int)
            return self.iterable.getitem(em, range, em.number(length - 1 - position, range))
        last = emit_builtin_call(range, em.graph, "aten::sub", [self.length, em.number(1, range)])
        from_end = emit_builtin_call(range, em.graph, "aten::sub", [last, index])
        return self.iterable.getitem(em, range, from_end)


class IterableTree(StaticLengthIterable):
    """Iterable `zip(...)` or `enumerate(...)`, whose arguments (`children`) are iterated over together."""

    kind = "iterabletree"

    def __init__(self, children: list[SugaredValue], range: SourceRange) -> None:
        self.children = children
        unrolled = [child for child in children if child.unrolled]
        self.static_length = None
        if unrolled:
            if len(unrolled) < len(children):
                raise CompilationError(
                    "Can not iterate over a module list or tuple with a value that does not have a "
                    "statically determinable length; use a list instead of the tuple\n",
                    range,
                )
            self.static_length = min(child.static_len() or 0 for child in children)

    def leaves(self) -> list[SugaredValue]:
        """Return the iterables in the tree that are not results of `zip` or `enumerate`."""
        return [
            leaf
            for child in self.children
            for leaf in (child.leaves() if isinstance(child, IterableTree) else [child])
        ]

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Emit the minimum of the lengths of all leaves."""
        lengths = em.list(INT, [leaf.len(em, range) for leaf in self.leaves()])
        return emit_builtin_call(range, em.graph, "prim::min", [lengths])

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Return the tuple of the items of all children at `index`."""
        return SugaredTuple([child.getitem(em, range, index) for child in self.children])
