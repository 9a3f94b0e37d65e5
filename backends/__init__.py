"""Registration of array backends (backend registry), one per device type such as `cpu` or `cuda`.

Input: the name of a device type. Output: its backend.

The backends `cpu`, `cuda` and `meta` are built in. Other packages register backends as entry points of the
group `ts.backends`. They are loaded at their first use.

    >>> from ts import backends
    >>> backends.get("cpu").xp.__name__
    'numpy'
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ts import devices
from ts._core.dispatch.operator import forget_kernels

from .array_namespace import Namespace, WrappedNamespace
from .base import Backend

# Modules of `ts.backends` with PyTorch's settings for other libraries, such as `cudnn.benchmark`.
SETTINGS = (
    "cudnn", "cusparselt", "kleidiai", "mha", "miopen", "mkl", "mkldnn", "mps", "nnpack", "openmp",
    "opt_einsum", "quantized",
)  # fmt: skip
fp32_precision = "none"
# `ts._core` identifies each of these backends by the index of its name in this tuple: 0, 1, 2
# (`Backend.index`).
BUILT_IN = ("cpu", "cuda", "meta")
# names of the backends for layouts without strides. The backend `sparse` has number 3, the first after
# BUILT_IN.
LAYOUTS = ("sparse",)
# maximal number of backends. The kernel table of an operator has one more entry, for undefined tensors.
MAX_BACKENDS = 15
_loaded: dict[str, Backend] = {}
_order: list[str] = [*BUILT_IN, *LAYOUTS]
# Seed of the last `manual_seed` call, or None before the first. A backend that is loaded later is seeded with
# it.
_seed: int | None = None


def __getattr__(name: str) -> Any:
    if name in SETTINGS or name in BUILT_IN or name in LAYOUTS:
        return importlib.import_module(f"ts.backends.{name}")
    raise AttributeError(f"module 'ts.backends' has no attribute '{name}'")


def get(name: str) -> Backend:
    """Return the backend of a device type, or raise RuntimeError if it is not installed or has no device."""
    backend = _loaded.get(name)
    return backend if backend is not None else _load(name)


def at(index: int) -> Backend:
    """Return the backend whose number is `index`. Tensors store this number."""
    return get(_order[index])


def of_array(array: object) -> Backend:
    """Return the backend for the class of `array`, or raise TypeError if it belongs to no loaded backend.

    Classes of other backends may derive from `numpy.ndarray`. Therefore, the CPU backend is tried last.
    """
    for backend in reversed(_loaded.values()):
        if backend.name != "cpu" and isinstance(array, backend.array_type):
            return backend
    if isinstance(array, np.ndarray):
        return get("cpu")
    raise TypeError(f"{type(array).__name__} is not an array type of a loaded backend ({', '.join(_loaded)})")


def register(backend: Backend) -> Backend:
    """Register `backend` under its name, which also becomes a device type."""
    if backend.name not in _order:
        if len(_order) == MAX_BACKENDS:
            raise RuntimeError(f"at most {MAX_BACKENDS} backends can be loaded; loaded: {', '.join(_order)}")
        _order.append(backend.name)
        devices.extra_types.add(backend.name)
    backend.index = _order.index(backend.name)
    if not isinstance(backend.xp, Namespace):  # `xp` is a plain module, such as `numpy`
        backend.xp = WrappedNamespace(backend.xp)
    _loaded[backend.name] = backend
    # the kernel cache may still have kernels of an earlier backend with the same name or number
    forget_kernels()
    if _seed is not None:
        backend.manual_seed(_seed)
    return backend


def unregister(name: str) -> None:
    """Remove a registered backend. Built-in backends are not removed."""
    if name not in BUILT_IN and name not in LAYOUTS:
        _loaded.pop(name, None)
        # Only the number of the last backend is freed, because the numbers of later backends must not change.
        if name == _order[-1]:
            _order.pop()
        devices.extra_types.discard(name)


def available() -> list[str]:
    """Return the built-in device types with at least one usable device."""
    return [name for name in BUILT_IN if _usable(name)]


def installed() -> list[str]:
    """Return all device types with a backend: built-in, registered, or from an installed package."""
    from importlib.metadata import entry_points  # imported here, because the import takes long

    types = [name for name in _order if name not in LAYOUTS]
    return list(dict.fromkeys([*types, *sorted(e.name for e in entry_points(group="ts.backends"))]))


def manual_seed(seed: int) -> None:
    """Seed the random generators of all loaded backends, except the CPU generator.

    The caller seeds the CPU generator. Backends that are loaded later are seeded with `seed` when they are
    loaded.
    """
    global _seed
    _seed = seed
    for backend in _loaded.values():
        backend.manual_seed(seed)


def _usable(name: str) -> bool:
    try:
        return get(name).device_count() > 0
    except RuntimeError:
        return False


def _load(name: str) -> Backend:
    if name in BUILT_IN or name in LAYOUTS:
        return register(importlib.import_module(f"ts.backends.{name}").backend)
    from importlib.metadata import entry_points  # imported here, because the import takes long

    for entry in entry_points(group="ts.backends", name=name):
        return register(entry.load().backend)
    raise RuntimeError(
        f"no backend for device type '{name}' is installed; installed: {', '.join(installed())} "
        f"(entry point group 'ts.backends', see docs/how-to/add-a-backend.md)"
    )
