"""Placeholders for `torch.distributed.rpc` where dask.distributed is not installed.

    from ts.distributed.rpc import rpc_sync, RRef      without the extra `rpc`, too
    rpc_sync("worker1", f)                             ImportError: what to install

In: a name and its module; out: a class that may be an annotation, a base class or an argument of isinstance.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
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
