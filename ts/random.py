"""Random state: seeding, and generators of one's own.

    ts.manual_seed(0)
    ts.rand(2, generator=ts.Generator().manual_seed(0))     # the same numbers as the default generator's
    with ts.random.fork_rng():                              # whatever is drawn inside leaves no trace
        ts.rand(2)

The streams themselves are in `ts.ops.generator`; on the CPU they are PyTorch's, and so is their state, which
can be taken from one to the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.ops import generator as streams
from ts.ops.generator import Generator, default_generator


def manual_seed(seed: int) -> Generator:
    """Seed the default generators of all devices."""
    return streams.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the system's entropy; the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The default generator's seed."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state: a tensor of bytes."""
    state: Tensor = default_generator.get_state()
    return state


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator into `new_state`."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Context manager that restores the random states of the CPU and the devices, all or those listed."""
    from ts import cuda  # lazy import: CUDA is probed only on use

    if not enabled or device_type == "meta":
        yield
        return
    if devices is None:
        devices = range(cuda.device_count())
    numbers = list(devices)
    state, others = get_rng_state(), [cuda.get_rng_state(device) for device in numbers]
    try:
        yield
    finally:
        set_rng_state(state)
        for device, other in zip(numbers, others, strict=True):
            cuda.set_rng_state(other, device)
