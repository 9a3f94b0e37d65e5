"""Muon, which updates matrices by orthogonalization of their momentum (Newton-Schulz iteration).

The Newton-Schulz iteration in bfloat16 moves all singular values of the momentum towards 1.

`Muon([model.weight], lr=1e-3).step()` updates one matrix.
"""

from __future__ import annotations

import math
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import State

__all__ = ["Muon"]
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # a, b, c of the Newton-Schulz polynomial a x + b x**3 + c x**5


class Muon(Optimizer):
    """Muon optimizer: updates matrices along their orthogonalized momentum."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for option_name, value in (
            ("Learning rate", lr),
            ("momentum", momentum),
            ("weight decay", weight_decay),
        ):
            if not value >= 0:
                raise ValueError(f"{option_name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for x in group["params"]:
                if x.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {x.size()}"
                    )

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        if any(x.is_complex() for x in params):
            raise RuntimeError("Muon does not support complex parameters")
        lr, momentum = float(group["lr"]), group["momentum"]
        for x, grad, state in zip(params, grads, states, strict=True):
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = ts.zeros_like(grad)
            mean = state["momentum_buffer"].lerp_(grad, 1 - momentum)
            update = grad.lerp(mean, momentum) if group["nesterov"] else mean
            update = _orthogonalize(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
            x.mul_(1 - lr * group["weight_decay"])
            x.add_(update, alpha=-_adjusted_rate(lr, group["adjust_lr_fn"], *x.shape))


def _adjusted_rate(lr: float, adjustment: str | None, rows: int, columns: int) -> float:
    """Return the learning rate for a matrix with `rows` rows and `columns` columns."""
    if adjustment == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))


def _orthogonalize(x: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """Orthogonalize a matrix by the Newton-Schulz iteration in bfloat16.

    The singular values become about 1.
    """
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    is_tall = x.size(0) > x.size(1)
    y: Tensor = x.bfloat16()
    y = y.T if is_tall else y
    y = y / y.norm().clamp(min=eps)
    for _ in range(steps):
        gram = y @ y.T
        y = ts.addmm(y, ts.addmm(gram, gram, gram, beta=b, alpha=c), y, beta=a)
    return y.T if is_tall else y
