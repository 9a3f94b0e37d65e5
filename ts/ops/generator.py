"""Pseudorandom number generators (PRNG): the class `Generator` and the streams of random operators.

The streams on the CPU are equal to PyTorch's. Their random words come from `ts.backends.cpu.kernels.mt19937`.
Each line shows a sample and its computation from random words:

    float32 in [0, 1)   the 24 low bits of one word
    float64 in [0, 1)   the 53 low bits of two words
    randn               Box-Muller: blocks of 16 for 16 or more elements, else pairs in float64
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ts import backends
from ts._core.thread import deadline
from ts._core.thread.context import TracingScope
from ts.backends.cpu.kernels.mt19937 import STATE_BYTES, MersenneTwister, set_default
from ts.devices import device as Device

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_SEED = 67280421310721
_BYTES = STATE_BYTES + 512  # approximate memory of a generator, including its Python objects


# mypy checks `ts.backends` as `backends`, and does not find the type stub of `mt19937`.
class CpuStream(MersenneTwister):  # type: ignore[misc]
    """Random stream of the CPU.

    The streams of other devices have the same methods, but their methods return arrays on the device.
    """

    def in_blocks(self, n: int, without_gaps: bool) -> bool:
        """Return whether `n` normal numbers for a tensor are drawn in blocks.

        `without_gaps` is True if the memory of the tensor is contiguous.
        """
        return n >= 16 and without_gaps

    def block_normals(self, n: int, double: bool, narrow: bool = False) -> NDArray[Any]:
        """Draw `n` >= 16 standard normal numbers in blocks of 16, from 8 radii and 8 angles (Box-Muller).

        If `n` is not a multiple of 16, an additional block overwrites the last 16 numbers. With `narrow` (for
        16-bit dtypes), the positions after the last full block consume no uniform numbers before this block.
        """
        from ts.backends.cpu.kernels import randn  # imported here, because uniform numbers do not need it

        normals: NDArray[Any] = randn.block_normals(self, n, double, narrow)
        return normals


default_stream = CpuStream(DEFAULT_SEED)
set_default(default_stream)


def source(xp: Any, generator: Any) -> Any:
    """Return the stream of `generator`, or the default stream of the device of `xp` without generator."""
    new_stream = xp.random_stream
    if generator is None:
        return default_stream if new_stream is None else new_stream()
    if not isinstance(generator, Generator):
        raise TypeError(f"expected a Generator, not {type(generator).__name__}")
    if (new_stream is None) != isinstance(generator.stream, CpuStream):
        raise RuntimeError(
            f"Expected a '{xp.streams}' device type for generator but found '{generator.device.type}'"
        )
    return generator.stream


def fresh_seed() -> int:
    """Return a random seed from the operating system, in the range of a 64-bit signed int."""
    return int.from_bytes(os.urandom(8), "little") >> 1


def on_host(stream: Any) -> CpuStream:
    """Return `stream` if it is a CPU stream, else a new CPU stream whose seed is drawn from `stream`."""
    return stream if isinstance(stream, CpuStream) else CpuStream(int(stream.double_words(1)[0]))


class Generator:
    """Random number generator with the interface of `torch.Generator`."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
        if self.device.type == "meta":
            raise RuntimeError("META device type not an accelerator.")
        deadline.charge(1000, bytes=_BYTES)
        stream = None if self.device.type == "cpu" else backends.get(self.device.type).new_stream()  # type: ignore[attr-defined]
        self.stream: Any = CpuStream(DEFAULT_SEED) if stream is None else stream

    def manual_seed(self, seed: int) -> Generator:
        """Seed the stream and return the generator."""
        if not isinstance(seed, int):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self.stream.seed(seed)
        return self

    def seed(self) -> int:
        """Seed the stream from system entropy and return the seed."""
        new_seed = fresh_seed()
        self.stream.seed(new_seed)
        return new_seed

    def initial_seed(self) -> int:
        """Return the seed of the stream."""
        return int(self.stream.initial_seed)

    def get_state(self) -> Any:
        """Return the stream's state as a byte tensor in PyTorch's layout."""
        from ts._core.tensor.tensor import (
            wrap_array,  # imported here to avoid an import cycle
        )

        return wrap_array(self.stream.get_state())

    def set_state(self, new_state: Any) -> Generator:
        """Restore a state that `get_state` returned, and return the generator."""
        from ts._core.tensor.tensor import Tensor

        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        with TracingScope(None):  # a trace must not record the copy to the host
            host = new_state.cpu().contiguous().numpy()
        if host.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self.stream.set_state(host.reshape(-1))
        return self

    def clone_state(self) -> Generator:
        """Return an independent generator with a copy of the state of this generator."""
        return Generator(self.device).set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self.device), self.stream.get_state().tobytes())


def _restored(device: str, state: bytes) -> Generator:
    generator = Generator(device)
    generator.stream.set_state(np.frombuffer(state, dtype=np.uint8))
    return generator


default_generator = Generator()
default_generator.stream = default_stream


def manual_seed(seed: int) -> Generator:
    """Seed the streams of all devices and return the CPU's generator."""
    default_generator.manual_seed(seed)
    backends.manual_seed(seed)  # type: ignore[attr-defined]
    return default_generator
