"""Operators and groups as one launch each: by a record's expression, or those of a whole group.

In: operators' records and what they read, then arrays and numbers.  Out: arrays; or None, where the
expressions do not hold for these inputs, and nothing has happened.

    launcher(record)(xp, x, y)           a record alone; what is left is done by its own kernel
    Launches(Rows([(mul, (0, 1)), (add, (2, 0))], (3,))).run([x, y])

What inputs of given dtypes, shapes and strides need is a `Plan`: the kernel, how many blocks, the results'
places.  A `Launches` keeps MOST_PLANS of them, the process MOST_KERNELS kernels; compiled ones are kept on
disk by CuPy, by their text, options and architecture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import cupy

from . import fused, planning, rowwise, sources

Kernel = Callable[..., Any]

MOST_PLANS = 256
MOST_KERNELS = 1024


def group_of(record: Any) -> planning.Rows | None:
    """A record alone, as a group of one row, or of nothing but an end; None where it has no expression."""
    if record.cuda_rows is not None:
        count = len(record.schema.arguments)
        return planning.Rows([], (count,), [(record, tuple(range(count)))])
    arity = sources.arity(record)
    return planning.Rows([(record, tuple(range(arity)))], (arity,)) if arity else None


def launcher(record: Any) -> Kernel | None:
    """The kernel for a record; None where it has no expression to launch."""
    group = group_of(record)
    if group is None:
        return None
    launches, count = Launches(group), group.outputs[0]
    scaled = bool(group.rows) and sources.scaled(record)

    def kernel(xp: Any, *args: Any) -> Any:
        if not scaled or len(args) == count or (args[count] is not True and args[count] == 1):
            found = launches.run(args[:count])
            if found is not None:
                return found[0]
        return record.kernel(xp, *args)

    return kernel


class Plan:
    """How a group runs on inputs of given dtypes and places; or why it does not."""

    def __init__(self, inputs: Sequence[Any], needed: planning.Needs | str) -> None:
        self.inputs = [_described(x) for x in inputs]  # that rows read
        self.runs = 0
        self.refused = needed if isinstance(needed, str) else ""
        self.given: tuple[int, ...] = ()
        self.left: dict[int, str] = {}  # why ends run by themselves, by value
        if isinstance(needed, str):
            return
        self.given, self.left = needed.given, needed.left
        self._numbers = needed.numbers
        self._launch = Launch(needed)

    def run(self, values: Sequence[Any]) -> list[Any] | None:
        """The results that are `given`, each an array of its own; None where they have no way."""
        if self.refused:
            return None
        for at, dtype, strict in self._numbers:
            if not planning.holds(values[at], dtype, strict):
                return None
        made = self._launch(values)
        self.runs += 1
        return made


class Launch:
    """A kernel, and those that go on with its results."""

    def __init__(self, needed: planning.Needs) -> None:
        self._needed = needed
        self._blocks = min(needed.blocks, planning.MOST_BLOCKS)
        self._function = _kernel(needed.spec) if needed.blocks else None
        self._after = [(at, Launch(then)) for at, then in needed.after]

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The results for inputs."""
        needed = self._needed
        made = [_empty(*result) for result in needed.results]
        if self._blocks:
            given = [_argument(values[at], kind) for at, kind in needed.passed]
            taken = [_argument(values[at], kind) for at, kind in needed.taken]
            sizes = self._blocks, needed.threads, needed.shared
            launch(self._function, sizes, (*given, *made, *taken, *needed.rest))
        for at, then in self._after:
            made[at] = then([*values, made[at]])[0]
        return made


def _argument(value: Any, kind: Any) -> Any:
    return value if kind is None else kind(value)


def launch(function: Any, sizes: tuple[int, int, int], arguments: tuple[Any, ...]) -> None:
    """Run a kernel by so many blocks of so many threads, with so many bytes of memory for each block."""
    blocks, threads, shared = sizes
    function((blocks,), (threads,), arguments, shared_mem=shared)


def _empty(dtype: Any, shape: Sequence[int], order: list[int] | None) -> Any:
    if order is None:
        return cupy.empty(shape, dtype)
    return cupy.empty([shape[d] for d in order], dtype).transpose([order.index(d) for d in range(len(shape))])


def source(spec: fused.Spec | rowwise.Spec) -> str:
    """The text of a kernel."""
    return rowwise.source(spec) if isinstance(spec, rowwise.Spec) else fused.source(spec)


@lru_cache(MOST_KERNELS)
def _kernel(spec: fused.Spec | rowwise.Spec) -> Any:
    return cupy.RawKernel(source(spec), fused.NAME, options=sources.OPTIONS)


class Launches:
    """A group, and the plans that were made for it."""

    def __init__(self, group: planning.Rows) -> None:
        self.group = group
        self._taken = group.taken()
        self.plans: dict[tuple[Any, ...], Plan] = {}

    def run(self, values: Sequence[Any]) -> list[Any] | None:
        """The results; None where these inputs have no way here."""
        return self.plan(values).run(values)

    def plan(self, values: Sequence[Any]) -> Plan:
        """The plan for inputs like these."""
        key = tuple([
            (x.dtype, x.shape, x.strides, x.data.ptr % planning.PACK) if isinstance(x, cupy.ndarray)
            else _taken_key(x) if i in self._taken
            else type(x) if planning.is_number(x) else x
            for i, x in enumerate(values)
        ])  # fmt: skip
        found = self.plans.get(key)
        if found is None:
            read = [x for i, x in enumerate(values) if i not in self._taken]
            found = Plan(read, planning.needs(self.group, values))
            if len(self.plans) >= MOST_PLANS:
                self.plans.pop(next(iter(list(self.plans))), None)
            self.plans[key] = found
        return found


def _taken_key(x: Any) -> Any:
    """What an end takes decides by its value; True is not 1."""
    return tuple(x) if isinstance(x, (list, tuple)) else (type(x), x)


def _described(x: Any) -> str:
    if isinstance(x, cupy.ndarray):
        return f"{x.dtype.name} {tuple(x.shape)}"
    return f"{type(x).__name__} (number)" if planning.is_number(x) else repr(x)
