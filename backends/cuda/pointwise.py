"""Rows of pointwise operators as one launch each: a record's expression, or a whole group's.

In: operators' records and what they read, then arrays and numbers.  Out: arrays; or None, where the
expressions do not hold for these inputs, and nothing has happened.

    launcher(record)(xp, x, y)           one row; what is left is done by the record's own kernel
    Rows([(mul, (0, 1)), (add, (2, 0))], (3,)).run([x, y])

What inputs of given dtypes, shapes and strides need is a `Plan`: the kernel, how many blocks, the results'
places.  A `Rows` keeps MOST_PLANS of them, the process MOST_KERNELS kernels; compiled ones are kept on disk
by CuPy, by their text, options and architecture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import cupy

from . import fused, planning, sources

Kernel = Callable[..., Any]

THREADS = 256
MOST_BLOCKS = 1 << 16
MOST_PLANS = 256
MOST_KERNELS = 1024


def launcher(record: Any) -> Kernel | None:
    """The kernel for a record; None where it has no expression to launch."""
    arity = sources.arity(record)
    if not arity:
        return None
    rows = Rows([(record, tuple(range(arity)))], (arity,))
    scaled = sources.scaled(record)

    def kernel(xp: Any, *args: Any) -> Any:
        if not scaled or len(args) == arity or (args[arity] is not True and args[arity] == 1):
            found = rows.run(args[:arity])
            if found is not None:
                return found[0]
        return record.kernel(xp, *args)

    return kernel


class Plan:
    """How rows run on inputs of given dtypes and places; or why they do not."""

    def __init__(self, inputs: Sequence[Any], needed: planning.Needs | str) -> None:
        self.inputs = [_described(x) for x in inputs]
        self.runs = 0
        self.refused = needed if isinstance(needed, str) else ""
        if isinstance(needed, str):
            return
        self._needed = needed
        self._blocks = min(-(-needed.packs // THREADS), MOST_BLOCKS)
        self._function = _kernel(needed.spec) if needed.packs else None

    def run(self, values: Sequence[Any]) -> list[Any] | None:
        """The results, each an array of its own; None where they have no way."""
        if self.refused:
            return None
        needed = self._needed
        for at, dtype, strict in needed.numbers:
            if not planning.holds(values[at], dtype, strict):
                return None
        made = [_empty(*result) for result in needed.results]
        if self._blocks:
            given = [values[at] if kind is None else kind(values[at]) for at, kind in needed.passed]
            launch(self._function, self._blocks, (*given, *made, *needed.rest))
        self.runs += 1
        return made


def launch(function: Any, blocks: int, arguments: tuple[Any, ...]) -> None:
    """Run a kernel; each thread takes every so-manieth pack."""
    function((blocks,), (THREADS,), arguments)


def _empty(dtype: Any, shape: Sequence[int], order: list[int] | None) -> Any:
    if order is None:
        return cupy.empty(shape, dtype)
    return cupy.empty([shape[d] for d in order], dtype).transpose([order.index(d) for d in range(len(shape))])


@lru_cache(MOST_KERNELS)
def _kernel(spec: fused.Spec) -> Any:
    return cupy.RawKernel(fused.source(spec), fused.NAME, options=sources.OPTIONS)


class Rows:
    """Operators over values, and the plans that were made for them."""

    def __init__(self, rows: Sequence[tuple[Any, tuple[int, ...]]], outputs: Sequence[int]) -> None:
        self.rows = rows
        self.outputs = tuple(outputs)
        self.plans: dict[tuple[Any, ...], Plan] = {}

    def run(self, values: Sequence[Any]) -> list[Any] | None:
        """The results; None where these inputs have no way here."""
        return self.plan(values).run(values)

    def plan(self, values: Sequence[Any]) -> Plan:
        """The plan for inputs like these."""
        key = tuple([
            (x.dtype, x.shape, x.strides, x.data.ptr % planning.PACK) if isinstance(x, cupy.ndarray)
            else type(x) if planning.is_number(x) else x
            for x in values
        ])  # fmt: skip
        found = self.plans.get(key)
        if found is None:
            found = Plan(values, planning.needs(self.rows, self.outputs, values))
            if len(self.plans) >= MOST_PLANS:
                self.plans.pop(next(iter(list(self.plans))), None)
            self.plans[key] = found
        return found


def _described(x: Any) -> str:
    if isinstance(x, cupy.ndarray):
        return f"{x.dtype.name} {tuple(x.shape)}"
    return f"{type(x).__name__} (number)" if planning.is_number(x) else repr(x)
