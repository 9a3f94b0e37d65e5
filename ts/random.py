"""Random state: seeding, and generators of one's own.

    ts.manual_seed(0)
    ts.rand(2, generator=ts.Generator().manual_seed(0))     # the same numbers as the default generator's

The streams themselves are in `ts.ops.random`; on the CPU they are PyTorch's.
"""

from __future__ import annotations

from typing import Any

from ts.devices import device as Device
from ts.ops import random as streams


class Generator:
    """A stream of random numbers, as `torch.Generator`."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
        self.stream = streams.MersenneTwister()

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed`; the generator."""
        self.stream.seed(int(seed))
        return self

    def seed(self) -> int:
        """Start a stream that differs each time; its seed."""
        number = streams.clock_seed()
        self.stream.seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self.stream.initial_seed

    def get_state(self) -> dict[str, Any]:
        """Everything that the next number depends on."""
        return self.stream.get_state()

    def set_state(self, state: dict[str, Any]) -> Generator:
        """Continue from what `get_state` gave."""
        self.stream.set_state(state)
        return self


default_generator = Generator()
default_generator.stream = streams.default_generator


def manual_seed(seed: int) -> Generator:
    """Seed the default generator."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator from the clock; the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The default generator's seed."""
    return default_generator.initial_seed()


def get_rng_state() -> dict[str, Any]:
    """The default generator's state."""
    return default_generator.get_state()


def set_rng_state(new_state: dict[str, Any]) -> None:
    """Put the default generator into `new_state`."""
    default_generator.set_state(new_state)
