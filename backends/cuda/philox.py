"""Random numbers on the device, by the counter-based random generator Philox of PyTorch's CUDA devices.

Input: a seed. Output: device arrays of integers, uniform and normal numbers.

The state of a stream is the seed and an offset. Each call advances the offset by the number of values that
one thread draws. As in PyTorch, the number of threads depends on the device. Long arrays may therefore differ
between GPU models. Example:

    stream = Philox(seed=0)
    stream.floats(3)      0.3990, 0.5167, 0.0249
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy
import numpy as np
from numpy.typing import NDArray

from . import cuda_graphs, kernel_sources

THREADS_PER_BLOCK = 256
DEFAULT_SEED = 67280421310721


@cache
def _kernels(device: int) -> dict[str, Any]:
    module = cupy.RawModule(code=kernel_sources.random_kernels(), options=("--std=c++17",))
    return {name: module.get_function(f"philox_{name}") for name in kernel_sources.RANDOM_KERNELS}


@cache
def _zero_start(device: int) -> Any:
    """Return an array of two zeros on the device.

    Kernels add these numbers to the seed and the offset. In CUDA graphs, they add the generator's state
    instead.
    """
    return cupy.zeros(2, np.uint64)


@cache
def _max_blocks(device: int) -> int:
    about = cupy.cuda.runtime.getDeviceProperties(device)
    return int(about["multiProcessorCount"]) * (
        int(about["maxThreadsPerMultiProcessor"]) // THREADS_PER_BLOCK
    )


class Philox:
    """Random stream with the interface of `ts.ops.generator.CpuStream`."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Restart the stream with `seed`."""
        self.initial_seed = seed & 0xFFFFFFFFFFFFFFFF
        self.offset = 0

    def _draw(self, name: str, n: int) -> Any:
        device = int(cupy.cuda.runtime.getDevice())
        dtype, each = kernel_sources.RANDOM_KERNELS[name]
        out = cupy.empty(n, dtype)
        if n == 0:
            return out
        blocks = min(-(-n // THREADS_PER_BLOCK), _max_blocks(device))
        used = ((n - 1) // (THREADS_PER_BLOCK * blocks * each) + 1) * 4
        graph = cuda_graphs.capturing()
        if graph is None:
            start, seed, offset = _zero_start(device), self.initial_seed, self.offset
            self.offset += used
        else:  # at each replay, the kernel reads the generator's seed and offset from `state.start`
            state = graph.rng_state(self)
            start, seed, offset = state.start, 0, state.count
            state.count += used
        arguments = (out, np.int64(n), np.uint64(seed), np.uint64(offset), start)
        _kernels(device)[name]((blocks,), (THREADS_PER_BLOCK,), arguments)
        return out

    def words(self, n: int) -> Any:
        """Return `n` random integers of 32 bits."""
        return self._draw("words_32", n)

    def double_words(self, n: int) -> Any:
        """Return `n` random integers of 64 bits."""
        return self._draw("words_64", n)

    def floats(self, n: int, low: float = 0, high: float = 1) -> Any:
        """Return `n` float32 numbers, uniform in [low, high)."""
        return self._draw("uniform_float", n) * np.float32(high - low) + np.float32(low)

    def doubles(self, n: int, low: float = 0, high: float = 1) -> Any:
        """Return `n` float64 numbers, uniform in [low, high)."""
        return self._draw("uniform_double", n) * (high - low) + low

    def normals(self, n: int) -> Any:
        """Return `n` standard normal numbers in float64."""
        return self._draw("normal_double", n)

    def in_blocks(self, n: int, without_gaps: bool) -> bool:
        """Return True, because on CUDA `block_normals` draws normal numbers for every size and layout."""
        return True

    def block_normals(self, n: int, double: bool, narrow: bool = False) -> Any:
        """Return `n` standard normal numbers, in float64 if `double`, else in float32."""
        return self._draw("normal_double" if double else "normal_float", n)

    def permutation(self, n: int) -> Any:
        """Return a random permutation of the integers below `n`."""
        return cupy.argsort(self.double_words(n)).astype(np.int64)

    def slopes(self, x: Any, low: float, high: float) -> Any:
        """Return the slopes of `rrelu` for the elements `x`: uniform in [low, high) if x <= 0, else 1."""
        return cupy.where(x <= 0, self.doubles(x.size, low, high), 1.0)

    def get_state(self) -> NDArray[np.uint8]:
        """Return seed and offset, 8 bytes each, in PyTorch's layout."""
        return np.array([self.initial_seed, self.offset], dtype=np.uint64).view(np.uint8)

    def set_state(self, state: NDArray[np.uint8]) -> None:
        """Restore a state that `get_state` returned, or raise RuntimeError if it is malformed."""
        if state.size != 16:
            raise RuntimeError("RNG state is wrong size")
        seed, offset = state.view(np.uint64)
        if int(offset) % 4:
            raise RuntimeError("offset must be a multiple of 4")
        self.initial_seed, self.offset = int(seed), int(offset)
