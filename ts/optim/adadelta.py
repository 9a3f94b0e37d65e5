"""Adadelta, which scales gradients by the root mean square of past steps and of past gradients.

The factor is the root mean square of past steps, divided by that of past gradients.

`Adadelta(model.parameters(), rho=0.9).step()` updates the parameters of a model.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.fused_optimizers import add_scaled, apply_to_temporaries, negate_if_maximize, with_decay
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_capturable,
    check_range,
    check_rate,
    increment_steps,
    init_states,
    run_step,
    scalar_option,
    state_tensors,
    view_complex_as_real,
)

__all__ = ["Adadelta", "adadelta"]


class Adadelta(Optimizer):
    """Adadelta optimizer: steps scaled by running averages of squared updates and gradients."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("rho value", rho, 0 <= rho <= 1)
        check_range("epsilon value", eps, eps >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        init_states(params, states, "square_avg", "acc_delta")
        run_step(adadelta, group, params, grads, *state_tensors(states, "square_avg", "acc_delta", "step"))


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """Run one Adadelta step and increment `state_steps`."""
    check_capturable(capturable, params, foreach, xla=foreach is False)
    increment_steps(state_steps)
    params, grads, square_avgs, acc_deltas = view_complex_as_real(params, grads, square_avgs, acc_deltas)
    gradients = with_decay(params, negate_if_maximize(grads, maximize), weight_decay)
    ts._foreach_mul_(square_avgs, rho)
    ts._foreach_addcmul_(square_avgs, gradients, gradients, 1 - rho)
    numerators = apply_to_temporaries("sqrt", ts._foreach_add(acc_deltas, eps))
    denominators = apply_to_temporaries("sqrt", ts._foreach_add(square_avgs, eps))
    changes = apply_to_temporaries("mul", apply_to_temporaries("div", numerators, denominators), gradients)
    ts._foreach_mul_(acc_deltas, rho)
    ts._foreach_addcmul_(acc_deltas, changes, changes, 1 - rho)
    add_scaled(params, changes, -scalar_option(lr))
