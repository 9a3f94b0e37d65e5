"""NAdam, Adam with Nesterov momentum that increases with the steps.

NAdam(model.parameters(), lr=2e-3).step()
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.fused_optimizers import (
    add_quotients,
    apply_to_temporaries,
    decay_weights,
    negate_if_maximize,
    update_moments,
)
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_adam_options,
    check_capturable,
    check_range,
    check_rate,
    increment_and_read_steps,
    init_states,
    run_step,
    scalar_option,
    state_tensors,
    view_complex_as_real,
)

__all__ = ["NAdam", "nadam"]


class NAdam(Optimizer):
    """NAdam optimizer: Adam with Nesterov momentum, which increases with the number of steps."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_adam_options(betas, eps, weight_decay)
        check_range("momentum_decay value", momentum_decay, momentum_decay >= 0)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        for _, state in init_states(params, states, "exp_avg", "exp_avg_sq"):
            state["mu_product"] = ts.ones_like(state["step"])
        lists = state_tensors(states, "exp_avg", "exp_avg_sq", "mu_product", "step")
        run_step(nadam, group, params, grads, *lists)


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """Run one NAdam step, increment `state_steps`, and multiply `mu_products` by the current momentum."""
    check_capturable(capturable, params, foreach, "params, mu_products and state_steps")
    steps, lr = increment_and_read_steps(state_steps), scalar_option(lr)
    momenta = [beta1 * (1 - 0.5 * 0.96 ** (step * momentum_decay)) for step in steps]
    next_momenta = [beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * momentum_decay)) for step in steps]
    ts._foreach_mul_(mu_products, momenta)
    products = [x.item() for x in mu_products]
    params, grads, exp_avgs, exp_avg_sqs = view_complex_as_real(params, grads, exp_avgs, exp_avg_sqs)
    changes = negate_if_maximize(grads, maximize)
    changes = decay_weights(params, changes, weight_decay, lr, decoupled_weight_decay)
    update_moments(exp_avgs, exp_avg_sqs, changes, beta1, beta2)
    roots = apply_to_temporaries("sqrt", ts._foreach_div(exp_avg_sqs, [1 - beta2**step for step in steps]))
    roots = apply_to_temporaries("add", roots, eps)
    factors = [-lr * (1 - mu) / (1 - product) for mu, product in zip(momenta, products, strict=True)]
    add_quotients(params, changes, roots, factors)
    factors = [-lr * mu / (1 - product * mu) for mu, product in zip(next_momenta, products, strict=True)]
    add_quotients(params, exp_avgs, roots, factors)
