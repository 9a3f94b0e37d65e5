"""API of `torch.autograd`: gradients, custom functions, grad modes, profiler.

The example labels a range of a profile:

    with ts.autograd.profiler.record_function("attention"): ...
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ts.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from ts.autograd.gradcheck import gradcheck, gradgradcheck
from ts.errors import missing_attribute

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad", "function",
    "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad",
    "profiler", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


if TYPE_CHECKING:
    from ts._core.autograd.backward import backward as backward
    from ts._core.autograd.backward import grad as grad
    from ts.autograd import forward_ad as forward_ad
    from ts.autograd import function as function
    from ts.autograd import functional as functional
    from ts.autograd import graph as graph
    from ts.autograd import profiler as profiler
    from ts.autograd.anomaly import detect_anomaly as detect_anomaly
    from ts.autograd.anomaly import set_detect_anomaly as set_detect_anomaly
    from ts.autograd.function import Function as Function
    from ts.autograd.variable import Variable as Variable

# Modules and other names that are imported on first use. Layers import this package for `no_grad` only.
_MODULES: Final = frozenset({
    "anomaly", "forward_ad", "function", "functional", "graph", "graphviz", "profiler", "variable",
})  # fmt: skip
_NAME_TO_MODULE: Final = {
    "Function": "ts.autograd.function", "Variable": "ts.autograd.variable",
    "backward": "ts._core.autograd.backward", "current_task_id": "ts._core.autograd.engine",
    "detect_anomaly": "ts.autograd.anomaly", "grad": "ts._core.autograd.backward",
    "kineto_available": "ts.autograd.profiler", "reaches_all_leaves": "ts._core.autograd.engine",
    "set_detect_anomaly": "ts.autograd.anomaly",
}  # fmt: skip


def _is_checkpoint_valid() -> bool:
    """Return False only in a backward pass that computes the gradients of some leaves instead of all."""
    from ts._core.autograd.engine import current_task_id, reaches_all_leaves

    return current_task_id() == -1 or reaches_all_leaves()


def _find(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"ts.autograd.{name}")
    if name in _NAME_TO_MODULE:
        value = globals()[name] = getattr(importlib.import_module(_NAME_TO_MODULE[name]), name)
        return value
    if name == "torch":  # `torch.autograd.torch` exists in PyTorch, too
        return importlib.import_module("ts")
    raise missing_attribute("module 'ts.autograd'", name, lambda: __all__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # type checkers ignore `__getattr__`, so that they report unknown names
    __getattr__ = _find
