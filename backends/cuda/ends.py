"""Which operators read rows of a group's results in its kernel, and what that kernel needs.

In: an end of a group (`Record.ends`), the dtype and shape of what it reads, what it takes beside.  Out: a
`Fit`; or `NoWayError` says why its operator runs by itself.

    softmax(h, -1)    of h (32, 100): 32 rows of 100, by the text of the record

An end has a way if its record has a text (`Record.cuda_rows`) for these arguments, and it reads along the
last dimensions.  Whether its operator takes them, and what it gives, its kernel says, on the meta device.  An
operator alone runs as a group of nothing but an end, so that its results have the same bits.

A row longer than PIECE is read in parts if its text allows that (`folds.split`): a second kernel makes the
results of rows from those of their parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import cupy
import numpy as np

from .. import get
from . import folds, fused, rowwise, sources

PIECE: Final = 1 << 14  # elements of a part of a row
SHORT: Final = 1 << 10  # ... of a row for a warp at most
LONG: Final = 1 << 13  # ... for more threads than a block has else
MOST: Final = 1 << 10  # threads of a block
LONGEST: Final = 1 << 17  # ... that one block reads if there are fewer rows than
FEW: Final = 32
KEPT: Final = 44 << 10  # bytes of shared memory of a block, of the 48 KiB that there are without asking


class NoWayError(Exception):
    """Why inputs have no way here."""


@dataclass(frozen=True)
class Fit:
    """How an end runs."""

    text: str
    source: int
    rows: int
    length: int
    compute: np.dtype[Any]
    result: np.dtype[Any]
    shape: tuple[int, ...]
    taken: tuple[tuple[str, fused.Array | fused.Number | fused.Word, int], ...]  # the last: which input it is

    @property
    def in_parts(self) -> bool:
        """Whether it reads its rows in parts."""
        return self.length > PIECE and folds.split(self.text) is not None

    def beside(self, other: Fit) -> bool:
        """Whether both run in one kernel, each as it runs alone."""
        return (self.rows, self.length, self.in_parts) == (other.rows, other.length, other.in_parts)

    def end(self, text: str, source: int, result: np.dtype[Any]) -> rowwise.End:
        """As the text of a kernel needs it."""
        taken = tuple((name, given) for name, given, _ in self.taken)
        return rowwise.End(text, source, self.compute.name, result.name, taken)

    @property
    def arguments(self) -> list[tuple[int, Any]]:
        """The inputs that it takes as arguments of the kernel, with the type of a number."""
        kinds = [(v, given) for _, given, v in self.taken if not isinstance(given, fused.Word)]
        return [
            (v, getattr(np, given.dtype) if isinstance(given, fused.Number) else None) for v, given in kinds
        ]


def fit(record: Any, operands: Sequence[int], read: Any, inputs: Sequence[Any]) -> Fit:
    """How an end runs on a value like `read`; NoWayError where it does not."""
    names = [argument.name for argument in record.schema.arguments[1:]]
    given = {name: inputs[v] for name, v in zip(names, operands[1:], strict=True)}
    try:
        axes = _axes(given, read.ndim)
        first = read.ndim - len(axes)
        if axes != list(range(first, read.ndim)):
            raise NoWayError("it reads other dimensions than the last ones")
        length, rows = prod(read.shape[first:]), prod(read.shape[:first])
        text = _text(record, length, given)
        made = _made(record, read, given.values())
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        raise NoWayError("its operator says what is wrong") from error
    _check_dtypes(text, read.dtype, made.dtype)
    if prod(made.shape) != (rows * length if folds.parsed(text).by_element else rows):
        raise NoWayError("its result has another shape")
    if length > LONGEST and rows < FEW and folds.split(text) is None:
        raise NoWayError("its rows are too few and too long")
    compute = np.dtype(np.float32) if made.dtype.name in sources.SHORT else made.dtype
    _check_columns([x for x in given.values() if isinstance(x, cupy.ndarray)], read.dtype, compute)
    taken = tuple(
        (name, _taken(inputs[v], read.shape[first:]), v)
        for name, v in zip(names, operands[1:], strict=True)
        if folds.names(name, text)
    )
    return Fit(text, operands[0], rows, length, compute, made.dtype, tuple(made.shape), taken)


def _text(record: Any, length: int, given: dict[str, Any]) -> str:
    if not length:
        raise NoWayError("its rows have no elements")
    found = record.cuda_rows if not callable(record.cuda_rows) else record.cuda_rows(length, **given)
    if found is None:
        raise NoWayError("it has no text for these arguments")
    return str(found)


def _made(record: Any, read: Any, given: Iterable[Any]) -> Any:
    """The result on the meta device; where the operator takes no such arguments, its error."""
    meta = get("meta")
    arguments = [meta.empty(x.shape, x.dtype) if isinstance(x, cupy.ndarray) else x for x in given]
    return record.kernel(meta.xp, meta.empty(read.shape, read.dtype), *arguments)


def _axes(given: dict[str, Any], ndim: int) -> list[int]:
    """The dimensions that the arguments name, in order; all where they name none."""
    if "normalized_shape" in given:
        return list(range(ndim - len(given["normalized_shape"]), ndim))
    dim = given.get("dim")
    dims = [dim] if isinstance(dim, int) else dim
    return sorted({d % ndim for d in dims}) if dims and ndim else list(range(ndim))


def _check_dtypes(text: str, read: np.dtype[Any], made: np.dtype[Any]) -> None:
    floating = made.name in sources.FLOATS and read.name in sources.FLOATS
    whole = folds.is_whole(text) and made.kind in "iu" and read.kind in "iub"
    if not (floating or whole):
        raise NoWayError("it has no text for these dtypes")


def _taken(x: Any, row: tuple[int, ...]) -> fused.Array | fused.Number | fused.Word:
    """What an argument is in the text."""
    if x is None:
        return fused.Word("None")
    if isinstance(x, (bool, int, float)) and abs(x) < 1 << 62:
        return fused.Number("float64" if isinstance(x, float) else "int64")
    if isinstance(x, cupy.ndarray) and tuple(x.shape) == row and x.flags.c_contiguous:
        return fused.Array(x.dtype.name, fused.PACKED)
    raise NoWayError("it takes something else than numbers and rows")


def _check_columns(arrays: Sequence[Any], read: np.dtype[Any], compute: np.dtype[Any]) -> None:
    """Rows beside those that are read have their dtype, or all the one that is computed in."""
    if any(x.dtype != read for x in arrays) and any(x.dtype != compute for x in arrays):
        raise NoWayError("it takes rows of another dtype")


# ---------------------------------------------------------------------------------------- the launch


@dataclass
class Launch:
    """How a kernel over rows is started: its spec, blocks, shared memory, and its counts as arguments."""

    spec: rowwise.Spec
    blocks: int
    shared: int
    counts: list[int]


def launch(elements: fused.Spec, fits: Sequence[Fit]) -> Launch:
    """The kernel for the elements and these ends, which run beside each other."""
    rows, length = fits[0].rows, fits[0].length
    if not fits[0].in_parts:
        ends = [x.end(x.text, x.source, x.result) for x in fits]
        return _launch(elements, ends, rows, length, 1, length)
    ends = [x.end((folds.split(x.text) or ("", ""))[0], x.source, x.compute) for x in fits]
    return _launch(elements, ends, rows, length, -(-length // PIECE), PIECE)


def launch_of_parts(fit: Fit, index: str) -> Launch:
    """The kernel that makes results of rows from those of their parts: it reads one array."""
    parts = -(-fit.length // PIECE)
    given = fused.Array(fit.compute.name, fused.PACKED)
    end = fit.end((folds.split(fit.text) or ("", ""))[1], 0, fit.result)
    found = _launch(fused.Spec((given,), (), (), 1, 1, index), [end], fit.rows, parts, 1, parts)
    found.counts[-1] = fit.length
    return found


def _threads(piece: int) -> int:
    """How many take a row of that length, or such a part of one."""
    if piece > SHORT:
        return rowwise.BLOCK if piece <= LONG else MOST
    quads = -(-piece // rowwise.QUAD)
    return min(folds.WARP, 1 << (quads - 1).bit_length())


def _launch(
    elements: fused.Spec, ends: Sequence[rowwise.End], rows: int, length: int, parts: int, piece: int
) -> Launch:
    threads = _threads(piece)
    again = max(end.passes() for end in ends) > 1
    spec = rowwise.Spec(elements, tuple(ends), threads, keeps=False)
    together = spec.block // threads
    shared = together * piece * sum(map(rowwise.size_of, map(elements.dtype, spec.kept())))
    if again and shared <= KEPT:
        spec = rowwise.Spec(elements, tuple(ends), threads, keeps=True)
    counts = [rows * parts, length, parts, piece, length]
    return Launch(spec, -(-rows * parts // together), shared if spec.keeps else 0, counts)
