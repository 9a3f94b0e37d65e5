"""ASGD (averaged SGD, Polyak-Ruppert averaging) with decreasing steps.

`ASGD(model.parameters(), lr=0.01).step()` updates the parameters of a model. `state[x]["ax"]` is the average
of parameter x over the steps.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.fused_optimizers import negate_if_maximize, with_decay
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_capturable,
    check_range,
    check_rate,
    increment_and_read_steps,
    init_states,
    run_step,
    state_tensors,
    view_complex_as_real,
)

__all__ = ["ASGD", "asgd"]


class ASGD(Optimizer):
    """Averaged SGD with decreasing steps. `state[x]["ax"]` is the average of the parameter x."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        for _, state in init_states(params, states, "ax"):
            state["eta"] = ts.full_like(state["step"], float(group["lr"]))
            state["mu"] = ts.ones_like(state["step"])
        run_step(asgd, group, params, grads, *state_tensors(states, "ax", "mu", "eta", "step"))


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: Any,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """Run one ASGD step and increment `state_steps`.

    Also update the step sizes `etas` and the averaging weights `mus` for the next step.
    """
    check_capturable(capturable, params, foreach, "params, mus, etas, and state_steps")
    steps = increment_and_read_steps(state_steps)
    params, grads, axs = view_complex_as_real(params, grads, axs)
    gradients = with_decay(params, negate_if_maximize(grads, maximize), weight_decay)
    step_lengths = [eta.item() for eta in etas]
    ts._foreach_mul_(params, [1 - lambd * eta for eta in step_lengths])
    ts._foreach_add_(params, ts._foreach_mul(gradients, [-eta for eta in step_lengths]))
    average_weights = [mu.item() for mu in mus]
    if all(average_weight == 1 for average_weight in average_weights):
        ts._foreach_copy_(axs, params)
    else:
        ts._foreach_add_(axs, ts._foreach_mul(ts._foreach_sub(params, axs), average_weights))
    rate = float(lr)
    for eta, mu, step in zip(etas, mus, steps, strict=True):
        eta.fill_(rate / (1 + lambd * rate * step) ** alpha)
        mu.fill_(1 / max(1, step - t0))
