"""Adafactor, Adam with factored second moments (one vector for the rows and one for the columns).

For a gradient (m, n), the state contains mean squares of the rows (m, 1) and columns (1, n). The estimate of
the second moments is their matrix product, divided by the mean of the row values.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_rate,
    increment_and_read_steps,
    run_step,
    scalar_option,
    zero_step,
)

__all__ = ["Adafactor", "adafactor"]


class Adafactor(Optimizer):
    """Adam with factored second moments: one vector for the rows and one for the columns of a matrix."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_rate(0.0 if not isinstance(lr, Tensor) else lr)
        for requirement, value, is_valid in (
            ("Learning rate should be >= 0", lr, lr >= 0),
            ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0),
            ("epsilon2 should be >= 0", eps[1], eps[1] >= 0),
            ("Clipping threshold d should be >= 1", d, d >= 1),
            ("weight_decay should be >= 0", weight_decay, weight_decay >= 0),
        ):
            if not is_valid:
                raise ValueError(f"{requirement} but is: {value}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        if any(x.is_complex() for x in params):
            raise RuntimeError("Adafactor does not support complex parameters")
        for grad, state in zip(grads, states, strict=True):
            if not state:
                state["step"] = zero_step()
                state.update(_initial_moments(grad))
        eps1, eps2 = group["eps"]
        lists = [[s.get(name) for s in states] for name in ("row_var", "col_var", "variance", "step")]
        run_step(adafactor, group, params, grads, *lists, eps1=eps1, eps2=eps2)


def _initial_moments(grad: Tensor) -> dict[str, Tensor]:
    """Return the initial second moments, which are zeros, for a gradient."""
    if grad.dim() < 2:
        return {"variance": ts.zeros_like(grad)}
    *others, rows, columns = grad.shape
    return {"row_var": grad.new_zeros([*others, rows, 1]), "col_var": grad.new_zeros([*others, 1, columns])}


def adafactor(
    params: list[Tensor],
    grads: list[Tensor],
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: Any,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """Run one Adafactor step and increment `state_steps`.

    If `eps1` is None, it is the machine epsilon of the dtype of the parameter.
    """
    lr = scalar_option(lr)
    each = zip(
        params, grads, row_vars, col_vars, variances, increment_and_read_steps(state_steps), strict=True
    )
    for x, grad, rows, columns, variance, step in each:
        grad = -grad if maximize else grad
        min_square_root = ts.finfo(x.dtype).eps if eps1 is None else eps1
        weight = step**beta2_decay
        rate = max(eps2, x.norm(2).item() / x.numel() ** 0.5) * min(lr, 1 / step**0.5)
        if weight_decay != 0:
            x.mul_(1 - lr * weight_decay)
        if rows is not None and columns is not None:
            squares = _update_factored_moments(grad, rows, columns, weight, min_square_root)
        else:
            assert variance is not None
            squares = variance.lerp_(grad * grad, weight).clone()
        update = squares.clamp_(min=min_square_root * min_square_root).rsqrt_().mul_(grad)
        length = update.norm(2).item() / (update.numel() ** 0.5 * d)
        x.add_(update, alpha=-rate / max(1.0, length))


def _update_factored_moments(
    grad: Tensor, rows: Tensor, columns: Tensor, weight: float, min_mean: float
) -> Tensor:
    """Update the factored second moments of a gradient, and return the matrix of second moments."""
    for memory, dim in ((rows, -1), (columns, -2)):
        mean = grad.norm(dim=dim, keepdim=True).square_().div_(grad.size(dim))
        memory.lerp_(mean, weight)
    product: Tensor = (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=min_mean))
    return product
