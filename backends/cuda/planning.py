"""What rows of operators need to run as one kernel on given inputs: dtypes, shapes, ways over elements.

In: rows (an operator's record, and which values it reads), inputs.  Out: `Needs`, or a text: why there is
no way.

    needs([(mul, (0, 1)), (add, (2, 0))], (3,), [x, y])

    x: (32, 100), y: (100,)     lengths [32, 100], x PACKED with steps (100, 1), y PACKED with steps (0, 1)
    x, y: dense, channels last  lengths [n], both PACKED, and the result lies as they do
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any, Final, NamedTuple

import cupy
import numpy as np

from ts._core.tensor import strides as layouts

from . import ends as row_ends
from . import fused, rowwise, sources
from .ends import NoWayError

Shape = tuple[int, ...]
Record = Any

MOST_DIMENSIONS: Final = 8  # after neighbouring ones have been joined
LARGEST_HALF: Final = 65504.0
LARGEST_FLOAT: Final = 3.4e38
SMALL: Final = 1 << 30  # places below it are counted in 32 bits
PACK: Final = 16  # bytes of the longest load
MOST_IN_A_PACK: Final = 8
THREADS: Final = 256
MOST_BLOCKS: Final = 1 << 16


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

    spec: fused.Spec | rowwise.Spec
    blocks: int  # 0: there is nothing to compute
    threads: int  # of a block
    shared: int  # bytes of memory of a block
    passed: list[tuple[int, Any]]  # inputs that are arguments: with the type of a number, None for an array
    results: list[tuple[np.dtype[Any], Sequence[int], list[int] | None]]  # dtype, shape, order in memory
    taken: list[tuple[int, Any]]  # inputs that are arguments behind the results: what ends take
    rest: list[Any]  # lengths and strides
    numbers: list[tuple[int, str, bool]] = field(default_factory=list)  # inputs that have to hold in a dtype
    given: tuple[int, ...] = ()  # the values that are the results
    left: dict[int, str] = field(default_factory=dict)  # why ends run by themselves, by value
    after: list[tuple[int, Needs]] = field(default_factory=list)  # what goes on with a result


@dataclass
class Rows:
    """Operators over values, which are numbered: inputs, then the results of rows, then those of ends."""

    rows: Sequence[tuple[Record, tuple[int, ...]]]
    outputs: Sequence[int]
    ends: Sequence[tuple[Record, tuple[int, ...]]] = ()

    def taken(self) -> set[int]:
        """The inputs that ends take beside the rows that they read."""
        return {v for _, operands in self.ends for v in operands[1:]}


def needs(group: Rows, inputs: Sequence[Any]) -> Needs | str:
    """What a group needs to run on `inputs` as one; a text says why it does not."""
    try:
        return _needs(group, inputs)
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
            if not alone and layouts.in_order(shape, order) != layouts.of_result(shape, unit[0]):
                raise NoWayError("dimensions of one element lie elsewhere in its result")
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


def _needs(group: Rows, inputs: Sequence[Any]) -> Needs:
    taken = group.taken()
    elements = [None if i in taken else x for i, x in enumerate(inputs)]
    typed, values = _typed(group.rows, elements)
    fits, left = _fits(group, values, inputs)
    if left and not group.rows:
        raise NoWayError(next(iter(left.values())))
    try:
        found = _placed(group, typed, values, elements, fits)
    except _LaidOutError:
        if not group.rows:
            raise
        fits, left = {}, {**left, **dict.fromkeys(fits, "it reads what is laid out anew")}
        found = _placed(group, typed, values, elements, fits)
    found.left = left
    return found


class _LaidOutError(NoWayError):
    """The rows that an end reads do not lie in order."""


def _fits(
    group: Rows, values: list[Any], inputs: Sequence[Any]
) -> tuple[dict[int, row_ends.Fit], dict[int, str]]:
    """How ends run in the kernel, beside the first that does, and why others do not: by value."""
    fits: dict[int, row_ends.Fit] = {}
    left: dict[int, str] = {}
    for value, (record, operands) in enumerate(group.ends, len(values)):
        try:
            found = row_ends.fit(record, operands, values[operands[0]], inputs)
        except NoWayError as error:
            left[value] = str(error)
            continue
        if all(found.beside(other) for other in fits.values()):
            fits[value] = found
        else:
            left[value] = "another end reads other rows"
    return fits, left


def _placed(
    group: Rows,
    typed: list[fused.Row],
    values: list[Any],
    inputs: Sequence[Any],
    fits: dict[int, row_ends.Fit],
) -> Needs:
    """What rows need with these ends; what others read is a result."""
    read = [operands[0] for value, (_, operands) in enumerate(group.ends, len(values)) if value not in fits]
    outputs = tuple(dict.fromkeys([*(v for v in group.outputs if v < len(values)), *read]))
    reached = [*outputs, *(x.source for x in fits.values())]
    shape = max((values[v].shape for v in reached), key=lambda s: (len(s), prod(s)))
    if any(x.shape != shape for x in (values[v] for v in reached)):
        raise NoWayError("its results have different shapes")
    alone = len(group.rows) == 1 and not group.ends
    arrays = {i: x for i, x in enumerate(inputs) if isinstance(x, cupy.ndarray)}
    lengths, steps, order = _walks(list(arrays.values()), shape, alone)
    if order is not None and fits:
        raise _LaidOutError("it reads what is laid out anew")
    if order is not None and not alone and any("contiguous" in record.layout for record, _ in group.rows):
        raise NoWayError("it lays its results out anew")
    size = prod(shape)
    walked = dict(zip(arrays, steps, strict=True))
    neighbours = [arrays[i].dtype.itemsize for i, each in walked.items() if each[-1] == 1]
    width = _width(lengths, [*neighbours, *(values[v].dtype.itemsize for v in reached)])
    while fits and (width > rowwise.QUAD or next(iter(fits.values())).length % width):
        width //= 2
    reach = max([size, *(sum(n * abs(s) for n, s in zip(lengths, each, strict=True)) for each in steps)])
    index = "int" if reach < SMALL else "long long"
    users = _users(group.rows, typed, inputs)
    given, passed = _given(inputs, walked, width, users)
    spec = fused.Spec(tuple(given), tuple(typed), outputs, len(lengths), width, index)
    packed = [*lengths[:-1], lengths[-1] // width] if len(lengths) > 1 else lengths
    rest = list(packed[1:])
    for v, one in fused.walked(spec):
        rest += [walked[v][d] for d in fused.strides_of(spec, one)]
    results = [(values[v].dtype, shape, order) for v in outputs]
    if fits:
        found = _with_ends(spec, list(fits.values()), passed, results, rest, len(inputs))
    else:
        blocks = -(-size // (width * THREADS))
        found = Needs(spec, blocks, THREADS, 0, passed, results, [], _counted(spec, [prod(packed), *rest]))
    found.numbers, found.given = users, (*outputs, *fits)
    return found


def _users(
    rows: Sequence[tuple[Record, tuple[int, ...]]], typed: Sequence[fused.Row], inputs: Sequence[Any]
) -> list[tuple[int, str, bool]]:
    """The numbers that rows read, the dtype that each computes in, and whether it says what does not fit."""
    return [
        (i, row.compute, record.promotion is None)
        for row, (record, operands) in zip(typed, rows, strict=True)
        for i in operands
        if i < len(inputs) and is_number(inputs[i])
    ]


def _given(
    inputs: Sequence[Any], walked: dict[int, Shape], width: int, users: Sequence[tuple[int, str, bool]]
) -> tuple[list[fused.Array | fused.Number | fused.Word], list[tuple[int, Any]]]:
    """The inputs as the text of a kernel has them, and those that are its arguments."""
    given: list[fused.Array | fused.Number | fused.Word] = []
    passed: list[tuple[int, Any]] = []
    for i, x in enumerate(inputs):
        if i in walked:
            given.append(fused.Array(x.dtype.name, _walk(x, walked[i], width)))
            passed.append((i, None))
        elif is_number(x):
            read_in = {dtype for at, dtype, _ in users if at == i}
            floating = isinstance(x, float) or read_in <= set(sources.FLOATS)
            given.append(fused.Number("float64" if floating else "int64"))
            passed.append((i, np.float64 if floating else np.int64))
        else:
            given.append(fused.Word(str(x)))
    return given, passed


def _with_ends(
    spec: fused.Spec,
    fits: Sequence[row_ends.Fit],
    passed: list[tuple[int, Any]],
    results: list[Any],
    rest: Sequence[int],
    inputs: int,
) -> Needs:
    """What the elements need with ends; results of parts of rows need another kernel each."""
    started = row_ends.launch(spec, fits)
    taken = [argument for x in fits for argument in x.arguments]
    after = []
    for x in fits:
        if not x.in_parts:
            results.append((x.result, x.shape, None))
            continue
        after.append((len(results), _of_parts(x, spec, inputs)))
        results.append((x.compute, started.counts[:1], None))
    blocks, threads = started.blocks, started.spec.block
    counted = _counted(spec, [*started.counts, *rest])
    return Needs(started.spec, blocks, threads, started.shared, passed, results, taken, counted, after=after)


def _of_parts(x: row_ends.Fit, spec: fused.Spec, inputs: int) -> Needs:
    """What makes results of rows; the results of their parts come behind the inputs."""
    found = row_ends.launch_of_parts(x, spec.index)
    blocks, threads, result = found.blocks, found.spec.block, (x.result, x.shape, None)
    counted = _counted(spec, found.counts)
    return Needs(found.spec, blocks, threads, found.shared, [(inputs, None)], [result], x.arguments, counted)


def _counted(spec: fused.Spec, counts: Sequence[int]) -> list[Any]:
    """Counts as the kernel takes them."""
    return list(map(np.int32 if spec.index == "int" else np.int64, counts))
