"""Placeholders for `torch.distributed.rpc` where dask.distributed is not installed.

    from ts.distributed.rpc import rpc_sync, RRef      without the extra `rpc`, too
    rpc_sync("worker1", f)                             ImportError: what to install

In: a name and its module; out: a class that may be an annotation, a base class or an argument of isinstance.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def has_rpc_extra() -> bool:
    """Return whether the packages of the extra `rpc` are installed."""
    return find_spec("distributed") is not None and find_spec("msgpack") is not None


class _NeedsExtra(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise ImportError(
            f"{cls.__module__}.{cls.__name__} needs dask.distributed: pip install 'torchscript-ts[rpc]'"
        )

    def __getitem__(cls, item: Any) -> Any:
        return cls


@cache
def placeholder(module: str, name: str) -> type:
    """Return the placeholder of `module.name`, one object however often it is asked for."""
    return _NeedsExtra(name, (), {"__module__": module})


def require_initialized(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with a check: RuntimeError before `init_rpc`, with the extra and without."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        api = sys.modules.get("ts.distributed.rpc.api")
        if api is None or not api._is_current_rpc_agent_set():
            raise RuntimeError(
                "RPC has not been initialized. Call torch.distributed.rpc.init_rpc first."
            )
        return function(*args, **kwargs)

    return checked


class _MissingModule(ModuleType):
    """A module whose objects are placeholders, but the decorator that checks for `init_rpc`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return require_initialized if name == "_require_initialized" else placeholder(self.__name__, name)


@cache
def missing_module(name: str) -> ModuleType:
    """Return what stands for a module that needs the extra."""
    return _MissingModule(name)
