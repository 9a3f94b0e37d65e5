"""SparseAdam, by its name: gradients with few elements are tensors like others here.

SparseAdam(model.parameters())          NotImplementedError, with what to write instead
"""

from __future__ import annotations

from typing import Any

from ts.optim.optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Refused: there are no sparse tensors."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError(
            "SparseAdam is for sparse gradients, and there are no sparse tensors here. Write Adam instead, "
            "and leave `sparse=True` out of embeddings: their gradients are dense, and what Adam remembers "
            "of every row decays at each step."
        )
