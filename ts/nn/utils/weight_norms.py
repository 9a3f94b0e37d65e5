"""Weight normalization: a weight is the product of directions `weight_v` and lengths `weight_g`.

Example:

    layer = weight_norm(ts.nn.Linear(2, 3))      # parameters bias, weight_g, weight_v
    remove_weight_norm(layer)                    # parameters bias, weight
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.hooks import ForwardHook
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter, is_uninitialized

M = TypeVar("M", bound=Module)


class WeightNorm:
    """Forward pre-hook that computes the normalized weight."""

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Module) -> Tensor:
        """Return the weight: the product of lengths and directions."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return ts._weight_norm(v, g, self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        """Set the weight of `module`: the product of lengths and directions."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replace a parameter by two parameters: norms over all dimensions except `dim`, and directions."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if hook_of(module, WeightNorm, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, -1 if dim is None else dim)
    weight = getattr(module, name)
    check_initialized(weight, "WeightNorm", "weight normalization")
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(ts.norm_except_dim(weight, 2, hook.dim).detach()))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Replace the normalization by an ordinary parameter with the current weight."""
    match = hook_of(module, WeightNorm, name)
    if match is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    key, hook = match
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"], module._forward_pre_hooks[key]
    setattr(module, name, Parameter(weight.detach()))
    return module


def check_initialized(weight: Any, hook: str, function_name: str) -> None:
    """Raise ValueError if the weight has no shape yet."""
    if is_uninitialized(weight):
        raise ValueError(
            f"The module passed to `{hook}` can't have uninitialized parameters. Make sure to run the "
            f"dummy forward "
            f"before applying {function_name}"
        )


def hook_of(module: Any, kind: type[Any], name: str) -> tuple[int, Any] | None:
    """Return (key, hook) for the forward pre-hook of class `kind` for parameter `name`, or None."""
    for key, hook in module._forward_pre_hooks.items():
        function = hook.function if isinstance(hook, ForwardHook) else hook
        if isinstance(function, kind) and function.name == name:
            return key, function
    return None
