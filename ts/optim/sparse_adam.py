"""SparseAdam (lazy Adam), which updates only the rows that a sparse gradient stores, and their moments.

In this example, the gradient stores the rows that the program looked up:

    table = ts.nn.Embedding(10_000, 16, sparse=True)
    optimizer = ts.optim.SparseAdam(table.parameters())
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.optim import sparse_steps
from ts.optim.optimizer import Group, Optimizer
from ts.optim.optimizer_utils import State, check_betas, check_range

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """SparseAdam optimizer: Adam for sparse gradients."""

    takes_sparse_gradients = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_range("learning rate", lr, lr > 0)
        check_range("epsilon value", eps, eps > 0)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [
            [i, k]
            for i, group in enumerate(self.param_groups)
            for k, x in enumerate(group["params"])
            if x.layout is not ts.strided
        ]
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors"
            )

    def update_all(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> None:
        for x, grad, state in zip(params, grads, states, strict=True):
            if not sparse_steps.is_sparse(grad):
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
            if not state:
                state.update(step=0, exp_avg=ts.zeros_like(x), exp_avg_sq=ts.zeros_like(x))
            state["step"] += 1
            sparse_steps.sparse_adam(x, grad, state, group)
