"""Random state: functions to seed generators, and explicit generators.

The second line of the example returns the same numbers as `ts.rand(2)` after the first line:

    ts.manual_seed(0)
    ts.rand(2, generator=ts.Generator().manual_seed(0))
    with ts.random.fork_rng():                              # restores the random state at its end
        ts.rand(2)

CPU generators produce the same numbers as PyTorch. Their states have PyTorch's format, and can be exchanged
with PyTorch.
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
    """Seed the default generator with entropy of the system, and return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator as a uint8 tensor."""
    state: Tensor = default_generator.get_state()
    return state


def set_rng_state(new_state: Tensor) -> None:
    """Restore a state of the default generator."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Restore the random states of the CPU and of `devices` (default: all GPUs) at the end of the block."""
    from ts import cuda  # lazy import, because CUDA is probed only on use

    if not enabled or device_type == "meta":
        yield
        return
    if devices is None:
        devices = range(cuda.device_count())
    device_indices = list(devices)
    state, others = get_rng_state(), [cuda.get_rng_state(device) for device in device_indices]
    try:
        yield
    finally:
        set_rng_state(state)
        for device, other in zip(device_indices, others, strict=True):
            cuda.set_rng_state(other, device)
