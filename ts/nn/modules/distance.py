"""Distance and cosine similarity of pairs of vectors."""

from __future__ import annotations

from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module


class PairwiseDistance(Module):
    """p-norm of the difference of two vectors."""

    __constants__ = ["norm", "eps", "keepdim"]
    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


@hyperparameters
class CosineSimilarity(Module):
    """Cosine of the angle between two vectors along `dim`."""

    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
