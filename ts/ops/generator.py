"""Streams of random numbers: PyTorch's on the CPU, and the generators that scripts and users hold.

In: a seed.  Out: words, uniform and normal numbers:

    float32 in [0, 1)   24 low bits of one draw       float64   53 low bits of two draws
    randn               Box-Muller: blocks of 16 for 16 elements and more, else pairs in float64
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts import backends
from ts.devices import device as Device

DEFAULT_SEED = 67280421310721


class MersenneTwister:
    """MT19937 as PyTorch's CPU generator runs it, with the leftover sample of its normal distribution."""

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start the stream of `seed` (its low 32 bits)."""
        self.initial_seed = seed & 0xFFFFFFFFFFFFFFFF
        self._started: Any = None
        self._leftover: float | None = None

    @property
    def _bits(self) -> Any:
        """NumPy's generator of words; made on the first draw, because numpy.random is slow to import."""
        if self._started is None:
            key = np.empty(624, dtype=np.uint32)
            word = self.initial_seed & 0xFFFFFFFF
            for i in range(624):
                key[i] = word
                word = (1812433253 * (word ^ (word >> 30)) + i + 1) & 0xFFFFFFFF
            self._started = np.random.MT19937()
            self._started.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}
        return self._started

    def draw32(self, n: int) -> NDArray[np.uint64]:
        """The next `n` words."""
        return self._bits.random_raw(n) if n else np.empty(0, dtype=np.uint64)  # type: ignore[no-any-return]

    def draw64(self, n: int) -> NDArray[np.uint64]:
        """The next `n` pairs of words, the first of a pair high."""
        words = self.draw32(2 * n)
        return (words[0::2] << np.uint64(32)) | words[1::2]

    def uniform(self, n: int, double: bool) -> NDArray[Any]:
        """`n` numbers in [0, 1)."""
        if double:
            return (self.draw64(n) & np.uint64((1 << 53) - 1)) * (1.0 / (1 << 53))
        return ((self.draw32(n) & np.uint64((1 << 24) - 1)).astype(np.float32)) * np.float32(1.0 / (1 << 24))

    def normal(self, n: int, double: bool) -> NDArray[Any]:
        """`n` standard normal numbers."""
        if n < 16:
            return self.single_normals(n)
        data = self.uniform(n, double)
        whole = n - n % 16
        data[:whole] = _box_muller(data[:whole])
        if n % 16:  # the last 16 places are drawn again, overlapping the block before
            data[n - 16 :] = _box_muller(self.uniform(16, double))
        return data

    def single_normals(self, n: int) -> NDArray[np.float64]:
        """`n` standard normal numbers, drawn one by one."""
        return np.array([self.one_normal() for _ in range(n)])

    def permutation(self, n: int) -> NDArray[np.int64]:
        """The numbers below `n`, shuffled."""
        words = self.draw32(max(n - 1, 0))
        steps = (words % np.arange(n, 1, -1, dtype=np.uint64)).tolist() if n > 1 else []
        order = list(range(n))
        for i, step in enumerate(steps):
            j = i + step
            order[i], order[j] = order[j], order[i]
        return np.array(order, dtype=np.int64)

    def one_normal(self) -> float:
        """One standard normal number; they come in pairs, the second is kept for the next call."""
        if self._leftover is not None:
            sample, self._leftover = self._leftover, None
            return sample
        u1, u2 = self.uniform(2, True)
        radius, angle = math.sqrt(-2 * math.log1p(-u2)), 2 * math.pi * u1
        self._leftover = radius * math.sin(angle)
        return radius * math.cos(angle)

    def get_state(self) -> dict[str, Any]:
        """Everything that the next draw depends on."""
        return {"bits": self._bits.state, "leftover": self._leftover, "seed": self.initial_seed}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` gave."""
        self._bits.state = state["bits"]
        self._leftover, self.initial_seed = state["leftover"], state["seed"]


def _box_muller(uniform: NDArray[Any]) -> NDArray[Any]:
    blocks = uniform.reshape(-1, 2, 8)
    one = uniform.dtype.type(1)
    radius = np.sqrt(uniform.dtype.type(-2) * np.log(one - blocks[:, 0]))
    angle = uniform.dtype.type(2 * math.pi) * blocks[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)


default_generator = MersenneTwister()


def manual_seed(seed: int) -> MersenneTwister:
    """Seed the default generator, as `torch.manual_seed`."""
    default_generator.seed(int(seed))
    backends.manual_seed(int(seed))
    return default_generator


def clock_seed() -> int:
    """A seed from the clock."""
    return time.time_ns() & 0xFFFFFFFFFFFFFFFF


def source(xp: Any, generator: Any) -> Any:
    """The stream to draw from: that of a `generator=` argument, else that of the device which `xp`
    computes on."""
    own = getattr(xp, "random_stream", None)
    if generator is None:
        return default_generator if own is None else own()
    if not isinstance(generator, Generator):
        raise TypeError(f"expected a Generator, not {type(generator).__name__}")
    if (own is None) != isinstance(generator.stream, MersenneTwister):
        expected = "cpu" if own is None else "cuda"
        raise RuntimeError(
            f"Expected a '{expected}' device type for generator but found '{generator.device.type}'"
        )
    return generator.stream


class Generator:
    """A stream of random numbers, as `torch.Generator`."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
        own = None if self.device.type == "cpu" else backends.get(self.device.type).new_stream()
        self.stream: Any = MersenneTwister() if own is None else own

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed`; the generator."""
        self.stream.seed(int(seed))
        return self

    def seed(self) -> int:
        """Start a stream that differs each time; its seed."""
        number = clock_seed()
        self.stream.seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return int(self.stream.initial_seed)

    def get_state(self) -> dict[str, Any]:
        """Everything that the next number depends on."""
        state: dict[str, Any] = self.stream.get_state()
        return state

    def set_state(self, state: dict[str, Any]) -> Generator:
        """Continue from what `get_state` gave."""
        self.stream.set_state(state)
        return self

    def clone_state(self) -> Generator:
        """A generator that goes on from the same place, by itself."""
        return Generator(self.device).set_state(self.get_state())
