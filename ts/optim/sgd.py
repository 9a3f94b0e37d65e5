"""SGD (stochastic gradient descent), optionally with momentum or Nesterov momentum.

`SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True).step()` updates the parameters of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops import fused_optimizers
from ts.optim import sparse_steps
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import (
    State,
    check_fused,
    check_range,
    check_rate,
    run_fused_or_rule,
    run_step,
    scalar_option,
    scaler_options,
    view_complex_as_real,
)

__all__ = ["SGD", "sgd"]


class SGD(Optimizer):
    """SGD optimizer: steps along the negative gradient, optionally with momentum."""

    takes_sparse_gradients = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        check_range("momentum value", momentum, momentum >= 0)
        check_range("weight_decay value", weight_decay, weight_decay >= 0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        momenta = [state.get("momentum_buffer") for state in states]
        run_step(sgd, group, params, grads, momenta, **self._scaler())
        if group["momentum"] != 0:
            for state, memory in zip(states, momenta, strict=True):
                state["momentum_buffer"] = memory


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: Any,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """Run one SGD step. If a momentum buffer is None, its first value is the current gradient."""
    check_fused(fused, foreach, False)
    options = {
        "weight_decay": scalar_option(weight_decay), "momentum": momentum, "lr": scalar_option(lr),
        "dampening": dampening,
        "nesterov": nesterov, "maximize": maximize,
    }  # fmt: skip
    dense_indices, sparse = sparse_steps.split_by_layout(d_p_list)
    if sparse:
        if fused:
            raise RuntimeError("`_fused_sgd` does not support sparse gradients")
        for i in sparse:
            momentum_buffer_list[i] = sparse_steps.sgd(
                params[i], d_p_list[i], momentum_buffer_list[i], **options
            )
        if dense_indices:
            buffers = [momentum_buffer_list[i] for i in dense_indices]
            sgd([params[i] for i in dense_indices], [d_p_list[i] for i in dense_indices], buffers,
                foreach=foreach, grad_scale=grad_scale, found_inf=found_inf, **options)  # fmt: skip
            for i, buffer in zip(dense_indices, buffers, strict=True):
                momentum_buffer_list[i] = buffer
        return
    scaler = scaler_options(grad_scale, found_inf)
    new = [i for i, memory in enumerate(momentum_buffer_list) if memory is None] if momentum != 0 else []
    if not new:
        buffers = momentum_buffer_list if momentum != 0 else []
        _run_fused((params, d_p_list, buffers), is_first_step=False, **options, **scaler)
        return
    for i in new:
        momentum_buffer_list[i] = ts.empty_like(d_p_list[i])
    old = [i for i in range(len(params)) if i not in new]
    for indices, first in ((old, False), (new, True)):
        if indices:
            selected = [[tensors[i] for i in indices] for tensors in (params, d_p_list, momentum_buffer_list)]  # type: ignore[index]
            _run_fused(selected, is_first_step=first, **options, **scaler)


def _run_fused(tensor_lists: Sequence[Any], **options: Any) -> None:
    run_fused_or_rule(ts._fused_sgd_, fused_optimizers.sgd, *view_complex_as_real(*tensor_lists), **options)
