"""Operators on tensors with symbolic sizes, compared with their results on tensors with elements.

    call = Call(record, arguments)      runs the operator with a symbol for each size of at least 2
    call.differences()                  differences from the operator's result for the example
    call.differences_elsewhere()        differences for other sizes that the constraints allow
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import sympy

import ts
from tests import samples
from ts._core.tensor.sym_types import SymNumber
from ts.export.expr_parser import Source
from ts.export.fake import fake
from ts.export.shape_env import ShapeEnv
from ts.export.sym_node import symbol_of
from ts.export.tracer import ExportTracer

DTYPES = (ts.float32, ts.int64, ts.bool)


def tensors(x: Any) -> list[ts.Tensor]:
    """Return the tensors among values, also in nested lists."""
    if isinstance(x, ts.Tensor):
        return [x]
    return [t for y in x for t in tensors(y)] if isinstance(x, list | tuple) else []


def sample(record: Any) -> Any | None:
    """Return the first dtype accepted by an operator's tensor parameters, or None."""
    for dtype in DTYPES:
        given = samples.arguments(record, dtype)
        if given is None or not tensors(given):
            continue
        try:
            samples.operator(record)(*given)
        except samples.REJECTION_ERRORS:
            continue
        return dtype
    return None


class Call:
    """A call of one operator on fake tensors."""

    def __init__(self, record: Any, dtype: Any) -> None:
        self.record, self.dtype = record, dtype
        self.environment = ShapeEnv()
        self.symbols: list[Any] = []
        self.shapes: list[tuple[Any, ...]] = []
        self.recorder = ExportTracer(self.environment)
        arguments = [self._fake(x) for x in samples.arguments(record, dtype) or []]
        with self.recorder.recording():
            self.results = tensors(self.recorder.run(samples.operator(record), arguments))
        self.recorder.guard_squeezed_sizes()

    def _fake(self, x: Any) -> Any:
        if isinstance(x, list | tuple):
            return type(x)(map(self._fake, x))
        if not isinstance(x, ts.Tensor):
            return x
        name = f"x{len(self.shapes)}"
        shape = []
        for d, n in enumerate(x.shape):
            if n > 1:
                symbol = self.environment.size(Source(name, d), n)
                self.symbols.append(symbol)
                shape.append(symbol_of(symbol, self.environment))
            else:
                shape.append(n)
        made = fake(x, shape)
        self.recorder.placeholder(name, made)
        self.shapes.append(made.array.shape)
        return made

    def differences(self) -> list[str]:
        """Return the differences between symbolic and actual results for the example's sizes."""
        return self._compare(self.environment.hints, samples.arguments(self.record, self.dtype))

    def differences_elsewhere(self) -> list[str]:
        """Return the differences between symbolic and actual results for other sizes that the operator
        accepts."""
        found = []
        for sizes in self._others():
            shapes = iter(self.shapes)
            given = [self._resized(x, sizes, shapes) for x in samples.arguments(self.record, self.dtype) or []]
            found += self._compare(sizes, given)
        return found

    def _value(self, n: Any, sizes: dict[Any, int]) -> int | None:
        """Return a size as a number, or None for a size that depends on elements."""
        if not isinstance(n, SymNumber):
            return int(n)
        found = self.environment.simplify(n.node.expr).subs(sizes)
        return int(found) if found.is_number else None

    def _compare(self, sizes: dict[Any, int], given: Any) -> list[str]:
        try:
            wanted = tensors(samples.operator(self.record)(*given))
        except samples.REJECTION_ERRORS + (ArithmeticError,):
            return []
        shapes = [tuple(x.shape) for x in tensors(given)]
        if len(wanted) != len(self.results):
            return [f"{shapes}: {len(self.results)} results, not {len(wanted)}"]
        found = []
        for x, made in zip(wanted, self.results, strict=True):
            shape = [self._value(n, sizes) for n in made.array.shape]
            steps = [self._value(n, sizes) for n in made.array.strides]
            item = made.array.itemsize
            same = len(shape) == x.ndim and all(n is None or n == m for n, m in zip(shape, x.shape, strict=False))
            is_contiguous = not same or not x.numel() or all(
                m < 2 or n is None or n == s * item for n, s, m in zip(steps, x.stride(), x.shape, strict=True)
            )  # fmt: skip
            if not same or not is_contiguous or x.dtype != made.dtype:
                strides = [None if n is None else n // item for n in steps]
                found.append(f"{shapes}: {shape} {strides} {made.dtype}, not {list(x.shape)} {x.stride()} {x.dtype}")
        return found

    def _others(self) -> Iterator[dict[Any, int]]:
        """Yield other sizes that satisfy the constraints."""
        environment = self.environment
        hints = environment.hints
        free = [s for s in self.symbols if s not in environment.replaced]
        wanted = [{s: change(hints[s]) for s in free} for change in (lambda n: n + 1, lambda n: 2 * n)]
        wanted += [{s: least if s is t else hints[s] for s in free} for t in free for least in (0, 1, hints[t] + 1)]
        for sizes in wanted:
            try:
                conditions = [environment.simplify(g.condition).subs(sizes) for g in environment.guards]
                whole = {s: environment.simplify(s).subs(sizes) for s in self.symbols}
            except ZeroDivisionError:  # the condition fails
                continue
            if all(c == sympy.true for c in conditions) and all(map(self._allows, whole, whole.values())):
                yield {s: int(n) for s, n in whole.items()}

    def _allows(self, symbol: Any, n: Any) -> bool:
        environment = self.environment
        ends = environment.ranges[symbol]
        least = environment.min_sizes_in_calls.get(symbol, 0 if symbol in environment.small else ends.low)
        return bool(n.is_Integer) and least <= n <= ends.high

    def _resized(self, x: Any, sizes: dict[Any, int], shapes: Iterator[tuple[Any, ...]]) -> Any:
        """Return tensors of other sizes with the repeated elements of the example."""
        if isinstance(x, list | tuple):
            return type(x)(self._resized(y, sizes, shapes) for y in x)
        if not isinstance(x, ts.Tensor):
            return x
        shape = [self._value(n, sizes) for n in next(shapes)]
        made = ts.from_numpy(np.resize(x.detach().numpy(), shape).copy())
        return made.requires_grad_(x.requires_grad)
