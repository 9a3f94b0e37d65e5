"""Parametrizations of weights: `weight_norm`, `spectral_norm` and `orthogonal`.

For example, `spectral_norm(layer)` divides the weight of a layer by its largest singular value.
"""

from __future__ import annotations

from typing import Any, TypeVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.module import Module
from ts.nn.utils import parametrize
from ts.nn.utils.orthogonal import orthogonal
from ts.nn.utils.spectral_norms import output_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)
_FIRST_ITERATIONS = 15


class _WeightNorm(Module):
    """Parametrization of a weight by two tensors: lengths `weight_g` and directions `weight_v`.

    The weight is `weight_v`, scaled so that its norms over all dimensions except `dim` are `weight_g`.
    """

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return ts._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return ts.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int = 0) -> M:
    """Parametrize a parameter as the product of norms and directions."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    _read_older_names(module, name)
    return module


def _read_older_names(module: Any, name: str) -> None:
    """Register a hook that renames entries of old state dicts before they are loaded.

    `weight_g` and `weight_v` become `parametrizations.weight.original0` and `original1`.
    """

    def rename(state_dict: Any, prefix: str, *rest: Any) -> None:
        older = [f"{prefix}{name}_{suffix}" for suffix in "gv"]
        if all(key in state_dict for key in older):
            for i, key in enumerate(older):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)


class _SpectralNorm(Module):
    """Parametrization of a weight as a matrix divided by its largest singular value.

    Power iteration estimates the singular value during training.
    """

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps = eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight)
            u, v = (F.normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in matrix.shape)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._iterate(matrix, _FIRST_ITERATIONS)

    def _matrix(self, weight: Tensor) -> Tensor:
        matrix: Tensor = weight.movedim(self.dim, 0).flatten(1)
        return matrix

    def _iterate(self, matrix: Tensor, count: int) -> None:
        with ts.no_grad():
            for _ in range(count):
                self._u.copy_(F.normalize(ts.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(ts.mv(matrix.t().conj(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            unit: Tensor = F.normalize(weight, dim=0, eps=self.eps)
            return unit
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        result: Tensor = weight / ts.vdot(self._u, ts.mv(matrix, self._v))
        return result

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Parametrize a parameter as a matrix divided by its largest singular value."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = output_dim(module) if dim is None else dim
    step = _SpectralNorm(weight, n_power_iterations, dim, eps)
    parametrize.register_parametrization(module, name, step)
    return module
