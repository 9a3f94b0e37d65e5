"""Adam and AMSGrad (adaptive moment estimation with bias correction).

Adam(model.parameters(), lr=1e-3).step()
"""

from __future__ import annotations

from functools import partial
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops import fused_optimizers
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_adam_options,
    check_capturable,
    check_fused,
    check_rate,
    increment_steps,
    init_states,
    run_fused_or_rule,
    run_step,
    scalar_option,
    scaler_options,
    state_tensors,
    view_complex_as_real,
)

__all__ = ["Adam", "adam"]


class Adam(Optimizer):
    """Adam optimizer: running mean of gradients, divided by the root of the running mean of their squares."""

    sparse_error_text = "Adam does not support sparse gradients, please consider SparseAdam instead"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_rate(lr, foreach, capturable)
        check_adam_options(betas, eps, weight_decay)
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("betas must be either both floats or both Tensors")
        for i, beta in enumerate(betas):
            if isinstance(beta, Tensor):
                if foreach and not capturable:
                    raise ValueError(
                        f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True"
                    )
                if beta.numel() != 1:
                    raise ValueError(f"Tensor betas[{i}] must be 1-element")
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        maxima = ("max_exp_avg_sq",) if group["amsgrad"] else ()
        init_states(params, states, "exp_avg", "exp_avg_sq", *maxima)
        means, squares, steps = state_tensors(states, "exp_avg", "exp_avg_sq", "step")
        max_squares = state_tensors(states, *maxima)[0] if maxima else []
        run_step(adam, group, params, grads, means, squares, max_squares, steps, **self._scaler())


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Run one Adam step and increment `state_steps`."""
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    if not fused:
        check_capturable(capturable, params, foreach)
    skipped = found_inf is not None and bool(found_inf)
    if not skipped:
        increment_steps(state_steps)
    scaler = scaler_options(grad_scale, found_inf)
    run_fused_or_rule(
        ts._fused_adamw_ if decoupled_weight_decay else ts._fused_adam_,
        partial(fused_optimizers.adam, decoupled=decoupled_weight_decay),
        *view_complex_as_real(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs), state_steps,
        lr=scalar_option(lr), beta1=scalar_option(beta1), beta2=scalar_option(beta2),
        weight_decay=weight_decay, eps=eps,
        amsgrad=amsgrad, maximize=maximize, **scaler,
    )  # fmt: skip
