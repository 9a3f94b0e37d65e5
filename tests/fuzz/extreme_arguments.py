"""Call operators with extreme numbers: huge, negative, infinite and NaN.

Input: a range of record numbers; output: a line for each call with a problem.

    python -m tests.fuzz.extreme_arguments 0 200          problems of the records 0 to 199

Every number among a record's sample arguments, every list of numbers and every tensor is replaced in turn by each
of the values below.  The operator may return or raise an error.  It must not exceed SECONDS or end the process
(`subprocess_watchdog`).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import ts
from tests import samples
from tests.fuzz import odd_values, subprocess_watchdog
from ts.ops import registry

SECONDS = 5  # time limit of a call
INTEGERS = (0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63))
FLOATS = (0.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e308, -5e-324)
SCALARS = (*INTEGERS, *FLOATS)
BY_KIND: dict[str, tuple[Any, ...]] = {
    "int": INTEGERS, "SymInt": INTEGERS, "float": FLOATS, "Scalar": SCALARS, "number": SCALARS,
}  # fmt: skip
LISTS: dict[str, tuple[Any, ...]] = {"int[]": INTEGERS, "SymInt[]": INTEGERS, "float[]": FLOATS}
# Expected errors of operators: PyTorch's classes.  Other errors are unintended.
REJECTION_ERRORS = (RuntimeError, TypeError, ValueError, IndexError, MemoryError)
# They block, or change the state of the process.
EXCLUDED = {"aten::cuda", "aten::pin_memory", "aten::seed"}


def records() -> list[Any]:
    registry.load()
    return [r for r in registry.records() if r.variant != "out" and r.base is None and r.name not in EXCLUDED]


def replacements(parameter: Any, value: Any) -> Iterator[Any]:
    """Yield replacements for a sample argument."""
    if isinstance(value, ts.Tensor):
        if value.dtype.is_floating_point or value.dtype.is_complex:
            yield from (ts.full_like(value, x if abs(x) != 1e308 else 3e38) for x in FLOATS)
        elif value.dtype != ts.bool:
            yield from (ts.full_like(value, x) for x in INTEGERS if value.dtype == ts.int64 or 0 <= x < 128)
        yield from odd_values.with_unusual_strides(value)
        yield ts.zeros([0], dtype=value.dtype)
        yield ts.zeros([2, 0, 3], dtype=value.dtype)
        return
    kind = parameter.kind.removesuffix("?")
    yield from BY_KIND.get(kind, ())
    for x in LISTS.get(kind, ()):
        given = value if isinstance(value, list) and value else [1]
        yield [x] * len(given)
        if len(given) > 1:
            yield [*given[:-1], x]
    if kind in LISTS:
        yield []


def calls(record: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield (description, arguments) pairs for a record."""
    if samples.profile(record)[0] < 0:
        return
    parameters = samples.operator(record).signature.parameters
    for dtype in (ts.float32, ts.int64):
        given = samples.arguments(record, dtype)
        assert given is not None
        for i, parameter in enumerate(parameters):
            for x in replacements(parameter, given[i]):
                tensor = isinstance(x, ts.Tensor)
                text = f"{x.dtype} {list(x.shape)} by {x.stride()} of {shown_element(x)}" if tensor else x
                args = samples.arguments(record, dtype) or []  # new ones, as calls write to them
                yield f"{record.key} {dtype} {parameter.name}={text}", [*args[:i], x, *args[i + 1 :]]


def shown_element(x: ts.Tensor) -> str:
    """Return the first element as text, or "meta"."""
    return "meta" if x.is_meta else str(x.flatten()[:1].tolist())


def call(record: Any, args: list[Any]) -> None:
    """Call the operator of a record with the given arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples.operator(record)(*args)


def main(first: str, last: str, *place: str) -> None:
    """Call the records first to last."""
    calls_of_all = subprocess_watchdog.Calls(*place, seconds=SECONDS)
    for record in records()[int(first) : int(last)]:
        for text, args in calls(record):
            calls_of_all.run(text, REJECTION_ERRORS, call, record, args)


def problems(first: int, last: int) -> list[str]:
    """Return the problems found with the records from `first` to `last`."""
    return subprocess_watchdog.problems(__spec__.name, first, last)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print("\n".join(problems(int(sys.argv[1]), int(sys.argv[2]))))
    else:
        main(*sys.argv[1:])
