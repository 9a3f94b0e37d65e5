"""Utilities for modules: packed sequences (`rnn`), parametrizations, gradient clipping, pruning."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ts._core.value.build_lock import import_lock
from ts.unsupported import names_for

if TYPE_CHECKING:
    from ts.nn.utils import rnn as rnn
    from ts.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
    from ts.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters

_FUNCTIONS: Final[dict[str, tuple[str, ...]]] = {
    "convert_parameters": ("parameters_to_vector", "vector_to_parameters"),
    "clip_grad": (
        "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
    ),
    "fusion": (
        "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
    ),
    "init": ("skip_init",),
    "weight_norms": ("weight_norm", "remove_weight_norm"),
    "spectral_norms": ("spectral_norm", "remove_spectral_norm"),
}  # fmt: skip
_NAME_TO_MODULE: Final = {name: module for module, names in _FUNCTIONS.items() for name in names}
_MODULES: Final = frozenset({"parametrizations", "parametrize", "prune", "rnn", *_FUNCTIONS})


_absent = names_for(__name__)


def __getattr__(name: str) -> Any:
    with import_lock():
        if name in _NAME_TO_MODULE:
            value = getattr(importlib.import_module(f"ts.nn.utils.{_NAME_TO_MODULE[name]}"), name)
        elif name in _MODULES:
            value = importlib.import_module(f"ts.nn.utils.{name}")
        else:
            value = _absent(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAME_TO_MODULE, *_MODULES})
