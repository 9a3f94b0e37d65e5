"""Random state of CUDA devices, under the names of `torch.cuda.random`.

    ts.cuda.manual_seed(0); ts.rand(2, device="cuda")       PyTorch's numbers: 0.3990, 0.5167

Each device has a stream of its own.  Seeding without a device is remembered until there is one.
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
    """Seed the stream of the current device."""
    if usable():
        _stream(None).seed(int(seed))
    else:
        manual_seed_all(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the streams of all devices."""
    if usable():
        backend().manual_seed(int(seed))
    else:
        backends.manual_seed(int(seed))


def seed() -> None:
    """Seed the current device's stream with a number that nobody knows."""
    manual_seed(fresh_seed())


def seed_all() -> None:
    """Seed the streams of all devices with a number that nobody knows."""
    manual_seed_all(fresh_seed())


def initial_seed() -> int:
    """The seed of the current device's stream."""
    return int(_stream(None).initial_seed)


def get_rng_state(device: Device = "cuda") -> Any:
    """The state of a device's stream, as a tensor of bytes on the CPU."""
    return wrap_array(_stream(device).get_state())


def set_rng_state(new_state: Any, device: Device = "cuda") -> None:
    """Put a device's stream into the state that `get_rng_state` gave: seed and offset, as in PyTorch."""
    _stream(device).set_state(new_state.numpy())


def get_rng_state_all() -> list[Any]:
    """The states of all devices."""
    return [get_rng_state(i) for i in range(backend().device_count())]


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Put all devices into the states that `get_rng_state_all` gave."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)
