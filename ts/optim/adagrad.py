"""Adagrad (adaptive learning rates), which divides gradients by the root of the sum of squared gradients.

The sum includes the gradients of all steps.

`Adagrad(model.parameters(), lr=0.01).step()` updates the parameters of a model.
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.parameter import UninitializedParameter, uninitialized
from ts.ops import fused_optimizers
from ts.optim import sparse_steps
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_fused,
    check_range,
    check_rate,
    increment_steps,
    run_fused_or_rule,
    run_step,
    scalar_option,
    scaler_options,
    state_tensors,
    view_complex_as_real,
    zero_step,
)

__all__ = ["Adagrad", "adagrad"]


class Adagrad(Optimizer):
    """Adagrad optimizer: gradients divided by the root of the sum of their squares."""

    takes_sparse_gradients = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        check_range("lr_decay value", lr_decay, lr_decay >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        check_range(
            "initial_accumulator_value value", initial_accumulator_value, initial_accumulator_value >= 0
        )
        check_range("epsilon value", eps, eps >= 0)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for x in group["params"]:
                if isinstance(x, UninitializedParameter):
                    raise uninitialized("full_like")
                first = group["initial_accumulator_value"]
                first = complex(first, first) if x.is_complex() else first
                self.state[x] = {"step": zero_step(), "sum": ts.full_like(x, first)}

    def share_memory(self) -> None:
        """Move the sums of squares to shared memory."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        run_step(adagrad, group, params, grads, *state_tensors(states, "sum", "step"), **self._scaler())


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Run one Adagrad step and increment `state_steps`."""
    dense_indices, sparse = sparse_steps.split_by_layout(grads)
    if sparse and fused:
        raise RuntimeError("`fused` does not support sparse grad or complex param")
    if found_inf is None or not bool(found_inf):
        increment_steps(state_steps)
    scaler = scaler_options(grad_scale, found_inf)
    options: dict[str, Any] = {
        "weight_decay": weight_decay,
        "lr_decay": lr_decay,
        "eps": eps,
        "maximize": maximize,
    }
    for i in sparse:
        rate = float(scalar_option(lr))
        sparse_steps.adagrad(params[i], grads[i], state_sums[i], state_steps[i].item(), lr=rate, **options)
    if sparse:
        dense_lists = (
            [tensors[i] for i in dense_indices] for tensors in (params, grads, state_sums, state_steps)
        )
        params, grads, state_sums, state_steps = dense_lists
        if not dense_indices:
            return
    run_fused_or_rule(
        ts._fused_adagrad_, fused_optimizers.adagrad, *view_complex_as_real(params, grads, state_sums),
        state_steps,
        lr=scalar_option(lr),
        lr_decay=lr_decay, weight_decay=weight_decay, eps=eps, maximize=maximize, **scaler,
    )  # fmt: skip
