"""Type annotations of values in a traced function: `torch.fx.annotate`."""

from __future__ import annotations

from typing import Any

from ts.fx.proxy import Proxy

__all__ = ["annotate"]


def annotate(val: Any, type: Any) -> Any:
    """Return `val`. If it is a proxy, also set the type of its node."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                "Tried to annotate a value that already had a type on it! Existing type is "
                f"{val.node.type} and new type is {type}. This could happen if you tried to annotate a "
                "function parameter value (in which case you should use the type slot on the function "
                "signature) or you called annotate on the same value twice"
            )
        val.node.type = type
    return val
