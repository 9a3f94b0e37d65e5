"""Deprecated functions that call modules with replaced parameters and buffers.

For example, `functional_call(net, {"weight": w}, (x,))` is equal to `ts.func.functional_call` with the same
arguments.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.func import functional_call as _functional_call_of_func
from ts.func.modules import replaced_members
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["functional_call"]
__getattr__ = names_for(__name__)


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with replaced parameters and buffers, and emit a FutureWarning."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a "
        "future version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in "
        "replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with replaced parameters and buffers."""
    return _functional_call_of_func(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """Replace tensors of a module within this context."""
    with replaced_members(module, parameters_and_buffers, tie_weights, strict):
        yield
