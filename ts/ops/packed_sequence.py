"""Packed sequences of different lengths in one tensor, without padding.

A packed sequence contains the elements of all sequences in the order of time steps. It also contains the
batch size of each time step. The sequences are sorted by decreasing length. This example shows sequences of
length 3, 2 and 1 in both forms:

    padded (time, batch)       packed rows, and the batch size of each time step
    a b c
    d e .               <=>    a b c d e f    [3, 2, 1]
    f . .
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ts._core.tensor.size_guards import equal
from ts._core.tensor.tensor import Tensor
from ts.dtypes import from_numpy_dtype
from ts.ops.common import INT64, Array
from ts.ops.out_variants import COPIED_OUT
from ts.ops.registry import op
from ts.ops.shape_functions import ITEM, ShapeAndDtype, new_size

_UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
    "do not need ONNX exportability."
)


def _counts_above(counts: Sequence[int]) -> list[int]:
    """Return for each i = 0, 1, 2, ... the number of elements of `counts` that are greater than i.

    The function converts the lengths of sequences to the batch size of each time step, and vice versa.
    """
    below = np.searchsorted(np.sort(counts), np.arange(counts[0]), "right")
    result: list[int] = (len(counts) - below).tolist()
    return result


def _packed_shape(input: Array, lengths: Array, batch_first: bool) -> list[ShapeAndDtype]:
    """Return shapes of packed rows and batch sizes, with symbols for sizes that depend on `lengths`."""
    times, batch, *features = input.swapaxes(0, 1).shape if batch_first else input.shape
    if not equal(lengths.shape[0], batch):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.shape[0]} "
            f"(batch_size={batch})"
        )
    return [((new_size(1, times * batch), *features), input.dtype), ((new_size(1, times),), INT64)]


@op(
    "aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
    layout=("contiguous", "contiguous"),
    shape=ITEM.unless(_packed_shape),
    **COPIED_OUT,
)
def _pack(xp: Any, input: Array, lengths: Array, batch_first: bool) -> tuple[Array, Array]:
    """Return the packed rows (rows, features...) and the batch size per time step."""
    sizes = _integers(lengths)
    padded = input.swapaxes(0, 1) if batch_first else input
    if padded.size == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(sizes) != padded.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} "
            f"(batch_size={padded.shape[1]})"
        )
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if sizes != sorted(sizes, reverse=True):
        raise RuntimeError(_UNSORTED)
    if sizes[0] > padded.shape[0]:
        raise RuntimeError(
            f"Expected lengths of at most {padded.shape[0]}, the padded sequences', but got {sizes[0]}"
        )
    running = _counts_above(sizes)
    rows = xp.concatenate([padded[time, :count] for time, count in enumerate(running)])
    return rows, xp.asarray(running, dtype=INT64)


def _padded_shape(
    grad: Array, input_size: Sequence[int], batch_sizes: Array, batch_first: bool
) -> ShapeAndDtype:
    """Return shape and dtype of the gradient of the padded input."""
    return tuple(input_size), grad.dtype


@op(
    "aten::_pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, "
    "bool batch_first) -> Tensor",
    where="",
    shape=_padded_shape,
)
def _pack_backward(
    xp: Any, grad: Array, input_size: Sequence[int], batch_sizes: Array, batch_first: bool
) -> Array:
    """Return the gradient of the padded input: unpacked rows, and zeros after the end of each sequence."""
    grad_input = xp.zeros(tuple(input_size), grad.dtype)
    padded = grad_input.swapaxes(0, 1) if batch_first else grad_input
    running = xp.arange(padded.shape[1]) < batch_sizes[:, None]
    padded[: len(batch_sizes)][running] = grad
    return grad_input


@op(
    "aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, "
    "int total_length) -> (Tensor, Tensor)",
    shape=ITEM,
)
def _pad_packed(
    xp: Any, data: Array, batch_sizes: Array, batch_first: bool, padding_value: Any, total_length: int
) -> tuple[Array, Array]:
    """Convert a packed sequence to padded sequences, and return these and their lengths."""
    running = _integers(batch_sizes)
    falling = running == sorted(running, reverse=True)
    if not running or not falling or running[-1] <= 0 or sum(running) != len(data):
        raise RuntimeError(
            f"Expected batch sizes that do not grow and add up to the {len(data)} rows of data, got {running}"
        )
    times = len(running)
    if 0 < total_length < times:
        raise RuntimeError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {times}"
        )
    padded = xp.full((max(times, total_length), running[0], *data.shape[1:]), padding_value, dtype=data.dtype)
    start = 0
    for time, count in enumerate(running):
        padded[time, :count] = data[start : start + count]
        start += count
    lengths = _counts_above(running)
    return padded.swapaxes(0, 1) if batch_first else padded, xp.asarray(lengths, dtype=INT64)


@op(
    "aten::_pack_sequence(Tensor output, Tensor batch_sizes, Tensor? sorted_indices, Tensor? "
    "unsorted_indices) -> (Tensor, Tensor, Tensor?, Tensor?)",
    where="",
    tensor_kernel=True,
)
def _packed(
    output: Tensor, batch_sizes: Tensor, sorted_indices: Tensor | None, unsorted_indices: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Return the fields of a packed sequence unchanged."""
    return output, batch_sizes, sorted_indices, unsorted_indices


@op(
    "aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., "
    'str padding_side="right") -> Tensor',
    layout="contiguous",
)
def _pad(
    xp: Any, sequences: Sequence[Array], batch_first: bool, padding_value: float, padding_side: str
) -> Array:
    """Return sequences padded to (longest, batch, features...), or (batch, longest, ...) if `batch_first`."""
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    first = sequences[0]
    longest = max(len(sequence) for sequence in sequences)
    padded = xp.full((len(sequences), longest, *first.shape[1:]), padding_value, dtype=first.dtype)
    for row, sequence in zip(padded, sequences, strict=True):
        _check_features(first.shape, sequence.shape)
        if len(sequence):
            row[longest - len(sequence) if padding_side == "left" else 0 :][: len(sequence)] = sequence
    return padded if batch_first else padded.swapaxes(0, 1)


def _check_features(first: tuple[int, ...], other: tuple[int, ...]) -> None:
    if first[1:] == other[1:]:
        return
    axis = next((i for i in range(1, min(len(first), len(other))) if first[i] != other[i]), None)
    if axis is None:
        raise RuntimeError(f"Expected sequences of {len(first)} dimensions, but got one of {len(other)}")
    raise RuntimeError(
        f"The size of tensor a ({first[axis]}) must match the size of tensor b ({other[axis]}) at "
        f"non-singleton dimension {axis}"
    )


def _integers(lengths: Array) -> list[int]:
    if lengths.ndim != 1 or lengths.dtype != INT64:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D cpu "
            f"{from_numpy_dtype(lengths.dtype).type_name} tensor"
        )
    numbers: list[int] = lengths.tolist()
    return numbers
