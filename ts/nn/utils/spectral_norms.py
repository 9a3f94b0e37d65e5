"""Spectral normalization of a weight, which divides the weight by its largest singular value.

Example:

    layer = spectral_norm(ts.nn.Linear(2, 3))    # parameters bias, weight_orig, buffers weight_u, weight_v
    remove_spectral_norm(layer)                  # parameters bias, weight
"""

from __future__ import annotations

from typing import Any, TypeVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.nn.utils.weight_norms import check_initialized, hook_of

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """Forward pre-hook that computes the normalized weight."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Reshape the weight to a matrix (size of dimension `dim`, number of other elements)."""
        matrix: Tensor = weight.movedim(self.dim, 0).reshape(weight.size(self.dim), -1)
        return matrix

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """Return the weight divided by its largest singular value.

        With `do_power_iteration`, the estimate of the singular value is first improved by power iteration.
        """
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with ts.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(ts.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(ts.mv(matrix, v), dim=0, eps=self.eps))
        result: Tensor = weight / ts.dot(u, ts.mv(matrix, v))
        return result

    def __call__(self, module: Module, inputs: Any) -> None:
        """Set the weight of `module` to the normalized weight. In training, run a power iteration first."""
        setattr(module, self.name, self.compute_weight(module, module.training))


def output_dim(module: Module) -> int:
    """Return the dimension of output channels in a layer's weight: 1 for transposed convolutions, else 0."""
    return 1 if type(module).__name__.startswith("ConvTranspose") else 0


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a parameter by its largest singular value before each `forward`."""
    dim = output_dim(module) if dim is None else dim
    if hook_of(module, SpectralNorm, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    check_initialized(weight, "SpectralNorm", "spectral normalization")
    rows, columns = hook.reshape_weight_to_matrix(weight).shape
    u, v = (F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in (rows, columns))
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Replace the normalization by an ordinary parameter with the current weight."""
    match = hook_of(module, SpectralNorm, name)
    if match is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    key, hook = match
    weight = hook.compute_weight(module, False).detach()
    delattr(module, name)
    for suffix in ("u", "v", "orig"):
        delattr(module, f"{name}_{suffix}")
    del module._forward_pre_hooks[key]
    module.register_parameter(name, Parameter(weight))
    return module
