"""Functions of neural networks: operators, and functions in the scripted subset over operators.

    ts.nn.functional.linear(x, weight, bias)       an operator
    ts.nn.functional.relu(x, inplace=True)         a function of `activation`, which compiles as well

`FAMILIES` says which names are functions written in Python; every other name is an operator.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from ts.ops import registry

_FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "activation": (
        "relu", "relu6", "elu", "selu", "celu", "leaky_relu", "rrelu", "silu", "mish", "hardswish",
        "hardsigmoid", "hardtanh", "threshold", "softmax", "log_softmax", "softmin", "gumbel_softmax",
        "softsign", "tanhshrink", "relu_", "elu_", "selu_", "celu_", "leaky_relu_", "hardtanh_", "threshold_",
        "tanh", "sigmoid",
    ),
    "dropout": (
        "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
    ),
    "normalization": ("batch_norm", "instance_norm", "normalize"),
    "pooling": ("lp_pool1d", "lp_pool2d", "lp_pool3d"),
    "sparse": ("embedding",),
}  # fmt: skip
HOMES: Final = {name: f"ts.nn.functional.{family}" for family, names in _FAMILIES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'ts.nn.functional' has no attribute '{name}'")
    if name in HOMES:
        value = getattr(importlib.import_module(HOMES[name]), name)
    else:
        value = registry.nn_function(name)
    globals()[name] = value
    return value
