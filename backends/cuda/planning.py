"""What rows of operators need to run as one kernel on given inputs: dtypes, shapes, ways over elements.

In: rows (an operator's record, and which values it reads), inputs.  Out: `Needs`, or a text: why there is
no way.

    needs([(mul, (0, 1)), (add, (2, 0))], (3,), [x, y])

    x: (32, 100), y: (100,)     lengths [32, 100], x PACKED with steps (100, 1), y PACKED with steps (0, 1)
    x, y: dense, channels last  lengths [n], both PACKED, and the result lies as they do
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, Final, NamedTuple

import cupy
import numpy as np

from . import fused, sources

Shape = tuple[int, ...]
Record = Any

MOST_DIMENSIONS: Final = 8  # after neighbouring ones have been joined
LARGEST_HALF: Final = 65504.0
LARGEST_FLOAT: Final = 3.4e38
SMALL: Final = 1 << 30  # places below it are counted in 32 bits
PACK: Final = 16  # bytes of the longest load
MOST_IN_A_PACK: Final = 8


class Typed(NamedTuple):
    """A value as far as it decides what is computed."""

    dtype: np.dtype[Any]
    shape: Shape

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass
class Needs:
    """What a run on such inputs needs."""

    spec: fused.Spec
    packs: int  # of all results: a thread each
    passed: list[tuple[int, Any]]  # inputs that are arguments: with the type of a number, None for an array
    numbers: list[tuple[int, str, bool]]  # inputs that have to hold in a dtype
    results: list[tuple[np.dtype[Any], Sequence[int], list[int] | None]]  # dtype, shape, order in memory
    rest: list[Any]  # lengths and strides


class NoWayError(Exception):
    """Why inputs have no way here; it does not leave this module."""


def needs(
    rows: Sequence[tuple[Record, tuple[int, ...]]], outputs: Sequence[int], inputs: Sequence[Any]
) -> Needs | str:
    """What `rows` need to run on `inputs` as one; a text says why they do not."""
    try:
        return _needs(rows, outputs, inputs)
    except NoWayError as error:
        return str(error)


def is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float))


# ---------------------------------------------------------------------------------------- dtypes


def computed_in(record: Any, operands: Sequence[Any]) -> tuple[np.dtype[Any], np.dtype[Any]] | None:
    """The dtypes that a record's expression computes in, and gives, on such operands; None: none holds."""
    from ts.ops import rules  # here, because backends are below the operators

    chooses = sources.mask(record)
    if chooses >= 0 and getattr(operands[chooses], "dtype", None) != rules.BOOL:
        return None
    met = [x for i, x in enumerate(operands) if i != chooses and x is not None and not isinstance(x, str)]
    dtypes = {x.dtype for x in met if not is_number(x)}
    numbers = [x for x in met if is_number(x)]
    if not dtypes:
        return None
    if record.promotion is None:
        dtype = next(iter(dtypes))
        if len(dtypes) > 1 or any(rules.category(x) > rules.CATEGORY_OF[dtype] for x in numbers):
            return None  # its kernel promotes, or says what is wrong
    else:
        dtype = rules.result_type(*met)
        if record.promotion == "float":
            dtype = rules.float_dtype(dtype)
        elif rules.BOOL in dtypes and "-" in record.cuda:
            return None
    if not sources.fits(record, dtype.name):
        return None
    return dtype, rules.BOOL if record.promotion == "bool" else dtype


def holds(number: float, dtype: str, strict: bool) -> bool:
    """Whether a number can be one of a dtype; in floats, what is not `strict` takes every number."""
    if dtype in sources.FLOATS:
        if not strict or abs(number) == float("inf") or number != number:
            return isinstance(number, float) or abs(number) < 1 << 1000
        return abs(number) <= (LARGEST_HALF if dtype == "float16" else LARGEST_FLOAT)
    if dtype == "bool":
        return number in (0, 1)
    about = np.iinfo(dtype)
    return int(about.min) <= number <= int(about.max)


def _typed(
    rows: Sequence[tuple[Record, tuple[int, ...]]], inputs: Sequence[Any]
) -> tuple[list[fused.Row], list[Any]]:
    """The rows with dtypes, and all values: `Typed`, numbers, words."""
    from ts.ops import rules

    values: list[Any] = [Typed(x.dtype, tuple(x.shape)) if isinstance(x, cupy.ndarray) else x for x in inputs]
    made = []
    for x in values:
        if isinstance(x, Typed):
            if x.dtype.name not in sources.C_TYPES:
                raise NoWayError(f"{x.dtype.name} has no kernels of its own")
        elif not is_number(x) and str(x) not in sources.WORDS:
            raise NoWayError(f"{x!r} is none that an expression knows")
    for record, operands in rows:
        name = record.key
        if not sources.arity(record) or len(operands) > sources.arity(record):
            raise NoWayError(f"{name} has no expression")
        read = [values[i] for i in operands]
        if len(read) > 1 and all(x is None for x in read[1:]):
            raise NoWayError(f"{name} has nothing but None")
        dtypes = computed_in(record, read)
        if dtypes is None:
            raise NoWayError(f"{name} has no expression for these dtypes")
        compute, result = dtypes
        try:
            shape = rules.broadcast_shapes(*(x.shape for x in read if isinstance(x, Typed)))
        except RuntimeError:
            raise NoWayError(f"{name} has operands of shapes that do not fit") from None
        made.append(fused.Row(record.cuda, operands, compute.name, result.name))
        values.append(Typed(result, tuple(shape)))
    return made, values


# ---------------------------------------------------------------------------------------- places


def broadcast_strides(x: Any, shape: Sequence[int]) -> Shape:
    """Strides, in elements, with which `x` is read as if it had `shape`."""
    lead = len(shape) - x.ndim
    steps = [0 if n == 1 else step // x.dtype.itemsize for n, step in zip(x.shape, x.strides, strict=True)]
    return (*(0,) * lead, *steps)


def join(shape: Sequence[int], strides: Sequence[Shape]) -> tuple[list[int], list[Shape]]:
    """The same walk over the elements in fewer dimensions: those that every operand passes through as one are
    joined.

    >>> join((2, 3, 4), [(12, 4, 1), (4, 0, 1)])        # the first two cannot be joined: the second
    operand repeats
    ([2, 3, 4], [(12, 4, 1), (4, 0, 1)])
    >>> join((2, 3, 4), [(12, 4, 1), (12, 4, 1)])
    ([24], [(1,), (1,)])
    """
    lengths: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if lengths and all(mine[-1] == each[d] * n for mine, each in zip(steps, strides, strict=True)):
            lengths[-1] *= n
            for mine, each in zip(steps, strides, strict=True):
                mine[-1] = each[d]
            continue
        lengths.append(n)
        for mine, each in zip(steps, strides, strict=True):
            mine.append(each[d])
    return lengths, [tuple(mine) for mine in steps]


def _in_order(steps: Sequence[int]) -> bool:
    """Whether outer dimensions have the longer strides, as far as there are any."""
    some = [step for step in steps if step]
    return all(one >= other > 0 for one, other in pairwise(some))


def _dense_order(x: Any) -> list[int] | None:
    """The dimensions from the outermost to the innermost, where the elements fill their memory; else None."""
    order = sorted(range(x.ndim), key=lambda d: (-x.strides[d], d))
    step = x.dtype.itemsize
    for d in reversed(order):
        if x.shape[d] != 1 and x.strides[d] != step:
            return None
        step *= x.shape[d]
    return order


def _walks(
    arrays: Sequence[Any], shape: Shape, alone: bool
) -> tuple[list[int], list[Shape], list[int] | None]:
    """Lengths, the steps of each array, and how the results lie; None: in the order of their dimensions."""
    long = [x for x in arrays if x.ndim]
    first = long[0] if long else None
    if first is not None and all(tuple(x.shape) == shape for x in long) and 0 not in shape:
        unit = [tuple(step // x.dtype.itemsize for step in x.strides) for x in long]
        order = _dense_order(first)
        if order is not None and all(steps == unit[0] for steps in unit):
            flat: list[Shape] = [(1,) if x.ndim else (0,) for x in arrays]
            return [prod(shape)], flat, None if order == sorted(order) else order
    strides = [broadcast_strides(x, shape) for x in arrays]
    if not alone and not all(map(_in_order, strides)):
        raise NoWayError("its operands have their dimensions in different orders")
    lengths, joined = join(shape, strides)
    if len(lengths) > MOST_DIMENSIONS:
        raise NoWayError("it has too many dimensions")
    return (lengths, joined, None) if lengths else ([1], [(0,)] * len(arrays), None)


def _width(lengths: Sequence[int], sizes: Sequence[int]) -> int:
    """How many neighbours a thread takes, of elements of at most these sizes in bytes."""
    width = max(1, min(MOST_IN_A_PACK, PACK // max(sizes)))
    while len(lengths) > 1 and lengths[-1] % width:
        width //= 2
    return width


def _walk(x: Any, steps: Sequence[int], width: int) -> str:
    if not any(steps):
        return fused.ELEMENT
    if steps[-1] == 0:
        return fused.REPEATED
    aligned = x.data.ptr % (width * x.dtype.itemsize) == 0
    if steps[-1] == 1 and aligned and all(step % width == 0 for step in steps[:-1]):
        return fused.PACKED
    return fused.GATHERED


# ---------------------------------------------------------------------------------------- both


def _needs(
    rows: Sequence[tuple[Record, tuple[int, ...]]], outputs: Sequence[int], inputs: Sequence[Any]
) -> Needs:
    typed, values = _typed(rows, inputs)
    shape = max((values[v].shape for v in outputs), key=lambda s: (len(s), prod(s)))
    if any(x.shape != shape for x in (values[v] for v in outputs)):
        raise NoWayError("its results have different shapes")
    alone = len(rows) == 1
    arrays = {i: x for i, x in enumerate(inputs) if isinstance(x, cupy.ndarray)}
    lengths, steps, order = _walks(list(arrays.values()), shape, alone)
    if order is not None and not alone and any("contiguous" in record.layout for record, _ in rows):
        raise NoWayError("it lays its results out anew")
    size = prod(shape)
    walked = dict(zip(arrays, steps, strict=True))
    neighbours = [arrays[i].dtype.itemsize for i, each in walked.items() if each[-1] == 1]
    width = _width(lengths, [*neighbours, *(values[v].dtype.itemsize for v in outputs)])
    reach = max([size, *(sum(n * abs(s) for n, s in zip(lengths, each, strict=True)) for each in steps)])
    index, whole = ("int", np.int32) if reach < SMALL else ("long long", np.int64)
    users = [
        (i, row.compute, record.promotion is None)
        for row, (record, operands) in zip(typed, rows, strict=True)
        for i in operands
        if i < len(inputs) and is_number(inputs[i])
    ]
    passed: list[tuple[int, Any]] = []
    given: list[fused.Array | fused.Number | fused.Word] = []
    for i, x in enumerate(inputs):
        if i in arrays:
            given.append(fused.Array(x.dtype.name, _walk(x, walked[i], width)))
            passed.append((i, None))
        elif is_number(x):
            read_in = {dtype for at, dtype, _ in users if at == i}
            floating = isinstance(x, float) or read_in <= set(sources.FLOATS)
            given.append(fused.Number("float64" if floating else "int64"))
            passed.append((i, np.float64 if floating else np.int64))
        else:
            given.append(fused.Word(str(x)))
    spec = fused.Spec(tuple(given), tuple(typed), tuple(outputs), len(lengths), width, index)
    packed = [*lengths[:-1], lengths[-1] // width] if len(lengths) > 1 else lengths
    rest = [whole(prod(packed)), *map(whole, packed[1:])]
    for v, one in fused.walked(spec):
        rest += [whole(walked[v][d]) for d in fused.strides_of(spec, one)]
    results = [(values[v].dtype, shape, order) for v in outputs]
    return Needs(spec, -(-size // width), passed, users, results, rest)
