"""Random state: seeding, and generators of one's own.

    ts.manual_seed(0)
    ts.rand(2, generator=ts.Generator().manual_seed(0))     # the same numbers as the default generator's
    with ts.random.fork_rng():                              # whatever is drawn inside leaves no trace
        ts.rand(2)

The streams themselves are in `ts.ops.generator`; on the CPU they are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ts.ops import generator as streams
from ts.ops.generator import Generator

default_generator = Generator()
default_generator.stream = streams.default_generator


def manual_seed(seed: int) -> Generator:
    """Seed the default generators of all devices."""
    streams.manual_seed(seed)
    return default_generator


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


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Put the random state back at the end of the block; the CPU's is the only one there is."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
