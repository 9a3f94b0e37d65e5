"""API of `torch.autograd`: gradients, custom functions, grad modes, profiler.

The example labels a range of a profile:

    with ts.autograd.profiler.record_function("attention"): ...
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ts._core.autograd.backward import backward, grad
from ts._core.autograd.engine import current_task_id, reaches_all_leaves
from ts.autograd import function, grad_mode, graph, profiler
from ts.autograd.anomaly import detect_anomaly, set_detect_anomaly
from ts.autograd.function import Function
from ts.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from ts.autograd.gradcheck import gradcheck, gradgradcheck
from ts.autograd.variable import Variable
from ts.errors import missing_attribute

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad", "function",
    "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad",
    "profiler", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


if TYPE_CHECKING:
    from ts.autograd import forward_ad as forward_ad
    from ts.autograd import functional as functional


def _is_checkpoint_valid() -> bool:
    """Return False only in a backward pass that computes the gradients of some leaves instead of all."""
    return current_task_id() == -1 or reaches_all_leaves()


def _find(name: str) -> Any:
    if name in ("forward_ad", "functional"):  # these modules are imported on first use
        return importlib.import_module(f"ts.autograd.{name}")
    if name == "kineto_available":
        return profiler.kineto_available
    if name == "torch":  # `torch.autograd.torch` exists in PyTorch, too
        return importlib.import_module("ts")
    raise missing_attribute("module 'ts.autograd'", name, lambda: __all__)


if not TYPE_CHECKING:  # type checkers ignore `__getattr__`, so that they report unknown names
    __getattr__ = _find
