"""Optimizer steps for sparse gradients, which update only the parameter rows that a gradient stores.

Input: parameters, states, and gradients of layout `torch.sparse_coo`. The steps change parameters and states
in place.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, Final

import ts
from ts._core.tensor.tensor import Tensor

_get_layout: Final = attrgetter("layout")


def is_sparse(x: Tensor | None) -> bool:
    """Return True if a gradient is a sparse tensor."""
    return x is not None and x.layout is not ts.strided


def are_dense(grads: list[Tensor]) -> bool:
    """Return True if no gradient is a sparse tensor."""
    return {ts.strided}.issuperset(map(_get_layout, grads))


def split_by_layout(grads: list[Tensor]) -> tuple[list[int], list[int]]:
    """Return the indices of the dense gradients and the indices of the sparse gradients."""
    if are_dense(grads):
        return list(range(len(grads))), []
    sparse = [i for i, grad in enumerate(grads) if is_sparse(grad)]
    return [i for i in range(len(grads)) if i not in sparse], sparse


def _with_values(grad: Tensor, values: Tensor) -> Tensor:
    """Return a COO tensor with the indices of a coalesced gradient and the given values."""
    sparse: Tensor = ts.sparse_coo_tensor(grad._indices(), values, grad.shape, is_coalesced=True)
    return sparse


def sgd(
    param: Tensor,
    grad: Tensor,
    memory: Tensor | None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> Tensor | None:
    """Run one SGD step, and return the sparse momentum buffer."""
    grad = -grad if maximize else grad
    if weight_decay != 0:
        grad = grad.add(param, alpha=weight_decay)
    if momentum != 0:
        if memory is None:
            memory = grad.detach().clone()
        else:
            memory.mul_(momentum).add_(grad, alpha=1 - dampening)
        grad = grad.add(memory, alpha=momentum) if nesterov else memory
    param.add_(grad, alpha=-lr)
    return memory


def adagrad(
    param: Tensor,
    grad: Tensor,
    state_sum: Tensor,
    step: float,
    *,
    lr: float,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Run step number `step` of Adagrad."""
    if weight_decay != 0:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    grad = (-grad if maximize else grad).coalesce()
    values = grad._values()
    state_sum.add_(_with_values(grad, values.pow(2)))
    roots = state_sum.sparse_mask(grad)._values().sqrt_().add_(eps)
    param.add_(_with_values(grad, values / roots), alpha=-(lr / (1 + (step - 1) * lr_decay)))


def sparse_adam(param: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    """Run one SparseAdam step, which updates only the moments of rows that the gradient stores."""
    beta1, beta2 = group["betas"]
    grad = (-grad if group["maximize"] else grad).coalesce()
    values = grad._values()
    if values.numel() == 0:
        return
    first = state["exp_avg"].sparse_mask(grad)._values()
    second = state["exp_avg_sq"].sparse_mask(grad)._values()
    first_change = values.sub(first).mul_(1 - beta1)
    second_change = values.pow(2).sub_(second).mul_(1 - beta2)
    state["exp_avg"].add_(_with_values(grad, first_change))
    state["exp_avg_sq"].add_(_with_values(grad, second_change))
    mean = first_change.add_(first)
    root = second_change.add_(second).sqrt_().add_(group["eps"])
    step = state["step"]
    rate = float(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    param.add_(_with_values(grad, -rate * mean.div_(root)))
