"""Rprop (resilient backpropagation), with step sizes per element that grow while the gradient keeps its sign.

`Rprop(model.parameters(), etas=(0.5, 1.2)).step()` updates the parameters of a model.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.fused_optimizers import negate_if_maximize
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_capturable,
    check_range,
    check_rate,
    increment_steps,
    init_states,
    run_step,
    state_tensors,
    view_complex_as_real,
)

__all__ = ["Rprop", "rprop"]


class Rprop(Optimizer):
    """Rprop: step sizes per element, which grow while the gradient keeps its sign."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("eta values", f"{etas[0]}, {etas[1]}", 0 < etas[0] < 1 < etas[1])
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        for x, state in init_states(params, states, "prev"):
            rate = float(group["lr"])
            state["step_size"] = ts.full_like(x, complex(rate, rate) if x.is_complex() else rate)
        shorter, longer = group["etas"]
        min_step_size, max_step_size = group["step_sizes"]
        run_step(
            rprop, group, params, grads, *state_tensors(states, "prev", "step_size", "step"),
            step_size_min=min_step_size, step_size_max=max_step_size, etaminus=shorter, etaplus=longer,
        )  # fmt: skip


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """Run one Rprop step and increment `state_steps`."""
    check_capturable(capturable, params, foreach)
    increment_steps(state_steps)
    params, grads, prevs, step_sizes = view_complex_as_real(params, grads, prevs, step_sizes)
    gradients = negate_if_maximize(grads, maximize)
    sign_products = ts._foreach_sign(ts._foreach_mul(gradients, prevs))
    factors = [
        ts.where(sign_product > 0, etaplus, ts.where(sign_product < 0, etaminus, 1.0)).to(sign_product.dtype)
        for sign_product in sign_products
    ]
    ts._foreach_mul_(step_sizes, factors)
    ts._foreach_clamp_min_(step_sizes, step_size_min)
    ts._foreach_clamp_max_(step_sizes, step_size_max)
    # A gradient element that has changed its sign is replaced by 0, so that the next step does not change the
    # element's step size.
    gradients = [
        grad.masked_fill(sign_product < 0, 0)
        for grad, sign_product in zip(gradients, sign_products, strict=True)
    ]
    ts._foreach_addcmul_(params, ts._foreach_sign(gradients), step_sizes, -1)
    ts._foreach_copy_(prevs, gradients)
