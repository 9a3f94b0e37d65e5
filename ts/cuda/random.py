"""Random state of CUDA devices, under the names of `torch.cuda.random`.

Each device has a random number generator. The example returns PyTorch's numbers, 0.3990 and 0.5167:

    ts.cuda.manual_seed(0); ts.rand(2, device="cuda")

A seed that is set before CUDA is loaded is applied when CUDA is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ts import backends
from ts._core.tensor.tensor import wrap_array
from ts.cuda._devices import Device, backend, checked, usable
from ts.ops.generator import fresh_seed


def _stream(device: Device) -> Any:
    return backend().streams[checked(device)]


def manual_seed(seed: int) -> None:
    """Seed the generator of the current device."""
    if usable():
        _stream(None).seed(int(seed))
    else:
        manual_seed_all(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices."""
    if usable():
        backend().manual_seed(int(seed))
    else:
        backends.manual_seed(int(seed))


def seed() -> None:
    """Seed the generator of the current device with a random number."""
    manual_seed(fresh_seed())


def seed_all() -> None:
    """Seed the generators of all devices with a random number."""
    manual_seed_all(fresh_seed())


def initial_seed() -> int:
    """Return the seed of the generator of the current device."""
    return int(_stream(None).initial_seed)


def get_rng_state(device: Device = "cuda") -> Any:
    """Return the generator state of a device as a uint8 tensor on the CPU."""
    return wrap_array(_stream(device).get_state())


def set_rng_state(new_state: Any, device: Device = "cuda") -> None:
    """Restore a generator state (seed and offset, as in PyTorch) that `get_rng_state` returned."""
    _stream(device).set_state(new_state.numpy())


def get_rng_state_all() -> list[Any]:
    """Return the generator states of all devices."""
    return [get_rng_state(i) for i in range(backend().device_count())]


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Restore the generator states that `get_rng_state_all` returned."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)
