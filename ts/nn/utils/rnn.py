"""Padded and packed sequences of different lengths for recurrent layers.

A packed sequence contains the elements of all sequences, ordered by time step. It also contains the batch
size of each time step. Recurrent layers accept and return packed sequences. Scripts can call all functions of
the module.

Example:

    packed = pack_sequence([ts.tensor([1, 2]), ts.tensor([3])])       # data [1, 3, 2], batch sizes [2, 1]
    padded, lengths = pad_packed_sequence(packed)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import ts
from ts._core.tensor.tensor import Tensor


class PackedSequence_(NamedTuple):
    """Fields of a packed sequence."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences of different lengths in a single tensor.

    The sequences are sorted by decreasing length. The last two attributes are None if the caller passed the
    sequences sorted.

    data               tensor (rows, features...) with the elements of all sequences, ordered by time step
    batch_sizes        number of sequences that have an element at each step (int64, on the CPU)
    sorted_indices     original index of each sequence
    unsorted_indices   inverse permutation of `sorted_indices`
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        """Create a packed sequence. `unsorted_indices` defaults to the inverse of `sorted_indices`.

        `data` is the tensor, or a pair of the tensor and the batch sizes, which must be on the CPU.
        """
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        assert batch_sizes is not None
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created "
                "manually. They should be instantiated by functions like pack_sequence and "
                "pack_padded_sequence in nn.utils.rnn."
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Convert `data` to another dtype or device. Return self if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        indices = [
            None if index is None else index.to(data.device)
            for index in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *indices)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequences on the CPU."""
        return self.to("cpu", *args, **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequences on the current CUDA device."""
        return self.to("cuda", *args, **kwargs)

    def double(self) -> PackedSequence:
        """Convert the data to float64."""
        return self.to(ts.float64)

    def float(self) -> PackedSequence:
        """Convert the data to float32."""
        return self.to(ts.float32)

    def half(self) -> PackedSequence:
        """Convert the data to float16."""
        return self.to(ts.float16)

    def long(self) -> PackedSequence:
        """Convert the data to int64."""
        return self.to(ts.int64)

    def int(self) -> PackedSequence:
        """Convert the data to int32."""
        return self.to(ts.int32)

    def short(self) -> PackedSequence:
        """Convert the data to int16."""
        return self.to(ts.int16)

    def char(self) -> PackedSequence:
        """Convert the data to int8."""
        return self.to(ts.int8)

    def byte(self) -> PackedSequence:
        """Convert the data to uint8."""
        return self.to(ts.uint8)

    @property
    def is_cuda(self) -> bool:
        """True if the data is on a CUDA device."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Return True if the data is in pinned memory."""
        return bool(self.data.is_pinned())

    def pin_memory(self) -> PackedSequence:
        """Copy data and indices to pinned memory."""
        sorted_indices, unsorted_indices = (
            None if index is None else index.pin_memory()
            for index in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(self.data.pin_memory(), self.batch_sizes, sorted_indices, unsorted_indices)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the inverse of a permutation (n,), or None without permutation."""
    if permutation is None:
        return None
    output: Tensor = ts.empty_like(permutation)
    output.scatter_(0, permutation, ts.arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | list[float],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack padded sequences (time, batch, ...), or (batch, time, ...) with `batch_first`.

    Raise RuntimeError if a length is not positive. With `enforce_sorted`, also raise it if the sequences are
    not sorted by decreasing length.
    """
    if not isinstance(lengths, Tensor):
        sizes = ts.as_tensor(lengths, dtype=ts.int64, device="cpu")
    else:
        sizes = lengths.to("cpu")
    if enforce_sorted:
        sorted_indices: Tensor | None = None
        padded = input
    else:
        sizes, order = ts.sort(sizes, descending=True)
        order = order.to(input.device)
        sorted_indices = order
        padded = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = ts._pack_padded_sequence(padded, sizes, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, invert_permutation(sorted_indices))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return padded sequences (time, batch, ...) and their lengths (batch,).

    With `batch_first`, the shape is (batch, time, ...). The sequences are in their original order. Raise
    ValueError if a sequence is longer than `total_length`.
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, "
                f"but got total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    padded, lengths = ts._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, longest
    )
    unsorted_indices = sequence.unsorted_indices
    if unsorted_indices is not None:
        return padded.index_select(0 if batch_first else 1, unsorted_indices), lengths[unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Tensor | list[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Pad and stack sequences (length, ...) to (time, batch, ...), or batch first if `batch_first`."""
    if not ts.jit.is_scripting() and not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if isinstance(sequences, Tensor):
        tensors = sequences.unbind(0)
    elif ts.jit.is_scripting():
        tensors = sequences  # type: ignore[assignment]  # in scripts, `sequences` is a list here
    else:
        tensors = list(sequences)  # type: ignore[assignment]
    padded: Tensor = ts.pad_sequence(tensors, batch_first, padding_value, padding_side)
    return padded


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Return the sequences without their padding, each (length, ...)."""
    sequences: list[Tensor] = []
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    for i in range(rows.size(0)):
        sequences.append(rows[i][: int(lengths[i].item())])
    return sequences


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of shape (length, ...)."""
    lengths: list[int] = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), ts.tensor(lengths), enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Unpack a packed sequence into tensors (length, ...)."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
