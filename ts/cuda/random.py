"""Random state of CUDA devices, under the names of `torch.cuda.random`.

    ts.cuda.manual_seed(0); ts.rand(2, device="cuda")       PyTorch's numbers: 0.3990, 0.5167

Each device has a stream of its own.  Seeding without a device is remembered until there is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ts import backends
from ts._core import construct
from ts.cuda._devices import Device, backend, checked, usable
from ts.ops.generator import clock_seed

_STATE_BYTES = 16  # the seed and the offset, as in PyTorch


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
    """Seed the current device's stream from the clock."""
    manual_seed(clock_seed())


def seed_all() -> None:
    """Seed the streams of all devices from the clock."""
    manual_seed_all(clock_seed())


def initial_seed() -> int:
    """The seed of the current device's stream."""
    return int(_stream(None).initial_seed)


def get_rng_state(device: Device = "cuda") -> Any:
    """The state of a device's stream, as a tensor of bytes on the CPU."""
    state = _stream(device).get_state()
    words = [state["seed"], state["offset"]]
    return construct.tensor(list(b"".join(w.to_bytes(8, "little") for w in words)), dtype="uint8")


def set_rng_state(new_state: Any, device: Device = "cuda") -> None:
    """Put a device's stream into the state that `get_rng_state` gave."""
    data = bytes(new_state.tolist())
    if len(data) != _STATE_BYTES:
        raise RuntimeError("RNG state is wrong size")
    seed, offset = (int.from_bytes(data[i : i + 8], "little") for i in (0, 8))
    _stream(device).set_state({"seed": seed, "offset": offset})


def get_rng_state_all() -> list[Any]:
    """The states of all devices."""
    return [get_rng_state(i) for i in range(backend().device_count())]


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Put all devices into the states that `get_rng_state_all` gave."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)
