"""Random numbers on the device: the stream of PyTorch's CUDA generator.

In: a seed; out: arrays of words, uniform and normal numbers, computed where they are needed.

    stream = Philox(seed=0)
    stream.floats(3)      0.3990, 0.5167, 0.0249

The generator is counted, not stepped: its state is the seed and an offset, and each call moves the offset
on by what one thread used.  How many threads there are depends on the device, as in PyTorch, so long arrays
may differ between models of GPUs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy
import numpy as np
from numpy.typing import NDArray

from . import graphs, sources

THREADS = 256  # of a block
DEFAULT_SEED = 67280421310721


@cache
def _kernels(device: int) -> dict[str, Any]:
    module = cupy.RawModule(code=sources.random(), options=("--std=c++17",))
    return {name: module.get_function(f"philox_{name}") for name in sources.DRAWS}


@cache
def _nowhere(device: int) -> Any:
    """What is added to seed and offset outside of graphs."""
    return cupy.zeros(2, np.uint64)


@cache
def _most_blocks(device: int) -> int:
    about = cupy.cuda.runtime.getDeviceProperties(device)
    return int(about["multiProcessorCount"]) * (int(about["maxThreadsPerMultiProcessor"]) // THREADS)


class Philox:
    """A stream with the interface of `ts.ops.generator.CpuStream`."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start the stream of `seed`."""
        self.initial_seed = seed & 0xFFFFFFFFFFFFFFFF
        self.offset = 0

    def _draw(self, name: str, n: int) -> Any:
        device = int(cupy.cuda.runtime.getDevice())
        dtype, each = sources.DRAWS[name]
        out = cupy.empty(n, dtype)
        if n == 0:
            return out
        blocks = min(-(-n // THREADS), _most_blocks(device))
        used = ((n - 1) // (THREADS * blocks * each) + 1) * 4
        graph = graphs.capturing()
        if graph is None:
            start, seed, offset = _nowhere(device), self.initial_seed, self.offset
            self.offset += used
        else:  # seed and offset are those of the replay
            draws = graph.draws(self)
            start, seed, offset = draws.start, 0, draws.count
            draws.count += used
        arguments = (out, np.int64(n), np.uint64(seed), np.uint64(offset), start)
        _kernels(device)[name]((blocks,), (THREADS,), arguments)
        return out

    def words(self, n: int) -> Any:
        """`n` words of 32 bits."""
        return self._draw("words_32", n)

    def double_words(self, n: int) -> Any:
        """`n` words of 64 bits."""
        return self._draw("words_64", n)

    def floats(self, n: int, low: float = 0, high: float = 1) -> Any:
        """`n` float32 in [low, high)."""
        return self._draw("uniform_float", n) * np.float32(high - low) + np.float32(low)

    def doubles(self, n: int, low: float = 0, high: float = 1) -> Any:
        """`n` float64 in [low, high)."""
        return self._draw("uniform_double", n) * (high - low) + low

    def normals(self, n: int) -> Any:
        """`n` standard normal numbers in float64."""
        return self._draw("normal_double", n)

    def in_blocks(self, n: int, without_gaps: bool) -> bool:
        """Normal numbers are always drawn all at once."""
        return True

    def block_normals(self, n: int, double: bool, narrow: bool = False) -> Any:
        """`n` standard normal numbers."""
        return self._draw("normal_double" if double else "normal_float", n)

    def permutation(self, n: int) -> Any:
        """The numbers below `n`, in the order of as many random words."""
        return cupy.argsort(self.double_words(n)).astype(np.int64)

    def slopes(self, x: Any, low: float, high: float) -> Any:
        """Uniform in [low, high) where x <= 0, else 1."""
        return cupy.where(x <= 0, self.doubles(x.size, low, high), 1.0)

    def get_state(self) -> NDArray[np.uint8]:
        """The seed and the offset, 8 bytes each, as PyTorch lays them out."""
        return np.array([self.initial_seed, self.offset], dtype=np.uint64).view(np.uint8)

    def set_state(self, state: NDArray[np.uint8]) -> None:
        """Continue from what `get_state` gave."""
        if state.size != 16:
            raise RuntimeError("RNG state is wrong size")
        seed, offset = state.view(np.uint64)
        if int(offset) % 4:
            raise RuntimeError("offset must be a multiple of 4")
        self.initial_seed, self.offset = int(seed), int(offset)
