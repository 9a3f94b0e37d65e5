"""RMSprop, which divides gradients by the root of their mean square.

With the option `centered`, the divisor is the standard deviation of the gradients.

`RMSprop(model.parameters(), momentum=0.9).step()` updates the parameters of a model.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.fused_optimizers import (
    add_quotients,
    add_scaled,
    apply_to_temporaries,
    negate_if_maximize,
    with_decay,
)
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

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(Optimizer):
    """RMSprop: gradients divided by their root mean square, or standard deviation if `centered`."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_range("epsilon value", eps, eps >= 0)
        check_range("momentum value", momentum, momentum >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        check_range("alpha value", alpha, alpha >= 0)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        buffers = {"momentum_buffer": group["momentum"] > 0, "grad_avg": group["centered"]}
        init_states(params, states, "square_avg", *(name for name, used in buffers.items() if used))
        squares, steps = state_tensors(states, "square_avg", "step")
        momenta, means = [state_tensors(states, name)[0] if used else [] for name, used in buffers.items()]
        run_step(rmsprop, group, params, grads, squares, means, momenta, steps)


def rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """Run one RMSprop step and increment `state_steps`."""
    check_capturable(capturable, params, foreach)
    increment_steps(state_steps)
    lr = scalar_option(lr)
    params, grads, squares, means, momenta = view_complex_as_real(
        params, grads, square_avgs, grad_avgs, momentum_buffer_list
    )
    gradients = with_decay(params, negate_if_maximize(grads, maximize), weight_decay)
    ts._foreach_mul_(squares, alpha)
    ts._foreach_addcmul_(squares, gradients, gradients, 1 - alpha)
    variances: Any = squares
    if centered:
        ts._foreach_lerp_(means, gradients, 1 - alpha)
        variances = ts._foreach_addcmul(squares, means, means, -1)
    roots = apply_to_temporaries("add", ts._foreach_sqrt(variances), eps)
    if momentum > 0:
        ts._foreach_mul_(momenta, momentum)
        ts._foreach_addcdiv_(momenta, gradients, roots)
        add_scaled(params, momenta, -lr)
    else:
        add_quotients(params, gradients, roots, [-lr] * len(params))
