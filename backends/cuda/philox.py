"""Random numbers on the device: the stream of PyTorch's CUDA generator.

In: a seed; out: arrays of words, uniform and normal numbers, computed where they are needed.

    stream = Philox(seed=0)
    stream.uniform(3, double=False)      0.3990, 0.5167, 0.0249

The generator is counted, not stepped: its state is the seed and an offset, and each call moves the offset
on by what one thread used.  How many threads there are depends on the device, as in PyTorch, so long arrays
may differ between models of GPUs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy
import numpy as np

from . import sources

THREADS = 256  # of a block
DEFAULT_SEED = 67280421310721


@cache
def _kernels(device: int) -> dict[str, Any]:
    module = cupy.RawModule(code=sources.random(), options=("--std=c++17",))
    return {name: module.get_function(f"philox_{name}") for name in sources.DRAWS}


@cache
def _most_blocks(device: int) -> int:
    about = cupy.cuda.runtime.getDeviceProperties(device)
    return int(about["multiProcessorCount"]) * (int(about["maxThreadsPerMultiProcessor"]) // THREADS)


class Philox:
    """A stream with the interface of `ts.ops.generator.MersenneTwister`."""

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
        arguments = (out, np.int64(n), np.uint64(self.initial_seed), np.uint64(self.offset))
        _kernels(device)[name]((blocks,), (THREADS,), arguments)
        self.offset += ((n - 1) // (THREADS * blocks * each) + 1) * 4
        return out

    def draw32(self, n: int) -> Any:
        """`n` words of 32 bits."""
        return self._draw("words_32", n).astype(np.uint64)

    def draw64(self, n: int) -> Any:
        """`n` words of 64 bits."""
        return self._draw("words_64", n)

    def uniform(self, n: int, double: bool) -> Any:
        """`n` numbers in [0, 1)."""
        return self._draw("uniform_double" if double else "uniform_float", n)

    def normal(self, n: int, double: bool) -> Any:
        """`n` standard normal numbers."""
        return self._draw("normal_double" if double else "normal_float", n)

    def single_normals(self, n: int) -> Any:
        """`n` standard normal numbers."""
        return self.normal(n, True)

    def permutation(self, n: int) -> Any:
        """The numbers below `n`, in the order of as many random words."""
        return cupy.argsort(self.draw64(n)).astype(np.int64)

    def get_state(self) -> dict[str, Any]:
        """Everything that the next draw depends on."""
        return {"seed": self.initial_seed, "offset": self.offset}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` gave."""
        self.initial_seed, self.offset = state["seed"], state["offset"]
