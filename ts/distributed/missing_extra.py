"""Placeholders for `torch.distributed.rpc` if dask.distributed is not installed.

Imports and annotations work without the extra `rpc`. Only calls raise ImportError:

    from ts.distributed.rpc import rpc_sync, RRef
    rpc_sync("worker1", f)                             raises ImportError

Each placeholder is a class. Therefore, it can be a base class or an argument of `isinstance`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ts._core.late_binding import attribute_if_imported


def has_rpc_extra() -> bool:
    """Return True if the packages of the extra `rpc` are installed."""
    try:
        return find_spec("distributed") is not None and find_spec("msgpack") is not None
    except ImportError:  # an import hook blocks the packages
        return False


class _NeedsExtra(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise ImportError(
            f"{cls.__module__}.{cls.__name__} needs dask.distributed: pip install 'torchscript-ts[rpc]'"
        )

    def __getitem__(cls, item: Any) -> Any:
        return cls


@cache
def placeholder(module: str, name: str) -> type:
    """Return the placeholder class for `module.name`. Equal arguments return the same class."""
    return _NeedsExtra(name, (), {"__module__": module})


def require_initialized(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `function` so that calls raise RuntimeError without an RPC agent.

    There is no agent before `init_rpc`, or without the extra `rpc`.
    """

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        is_agent_set = attribute_if_imported("ts.distributed.rpc.api", "_is_current_rpc_agent_set")
        if is_agent_set is None or not is_agent_set():
            raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")
        return function(*args, **kwargs)

    return checked


class _MissingModule(ModuleType):
    """Module whose names are placeholders, except the decorator `_require_initialized`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return require_initialized if name == "_require_initialized" else placeholder(self.__name__, name)


@cache
def missing_module(name: str) -> ModuleType:
    """Return a placeholder for a module that needs the extra `rpc`."""
    return _MissingModule(name)
