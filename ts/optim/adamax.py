"""Adamax, Adam with the infinity norm (a decayed maximum of gradient magnitudes) instead of the mean square.

`Adamax(model.parameters(), lr=2e-3).step()` updates the parameters of a model.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.fused_optimizers import add_quotients, apply_to_temporaries, negate_if_maximize, with_decay
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_adam_options,
    check_capturable,
    check_rate,
    increment_and_read_steps,
    init_states,
    run_step,
    scalar_option,
    state_tensors,
    view_complex_as_real,
)

__all__ = ["Adamax", "adamax"]


class Adamax(Optimizer):
    """Adam with the decayed maximum of gradient magnitudes instead of the mean square."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_adam_options(betas, eps, weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        init_states(params, states, "exp_avg", "exp_inf")
        run_step(adamax, group, params, grads, *state_tensors(states, "exp_avg", "exp_inf", "step"))


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
) -> None:
    """Run one Adamax step and increment `state_steps`."""
    check_capturable(capturable, params, foreach)
    steps, lr = increment_and_read_steps(state_steps), scalar_option(lr)
    params, grads, exp_avgs, exp_infs = view_complex_as_real(params, grads, exp_avgs, exp_infs)
    changes = with_decay(params, negate_if_maximize(grads, maximize), weight_decay)
    ts._foreach_lerp_(exp_avgs, changes, 1 - beta1)
    remembered = ts._foreach_mul(exp_infs, beta2)
    ts._foreach_copy_(
        exp_infs, ts._foreach_maximum(remembered, apply_to_temporaries("add", ts._foreach_abs(changes), eps))
    )
    add_quotients(params, exp_avgs, exp_infs, [-lr / (1 - beta1**step) for step in steps])
