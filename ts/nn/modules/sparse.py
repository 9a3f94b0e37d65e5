"""Embedding modules (embedding lookup in a lookup table, embedding bag).

Input: indices. Output: one table row for each index, or one reduced row (sum, mean, maximum) for each bag of
indices.
"""

from __future__ import annotations

from dataclasses import InitVar
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn import functional as F
from ts.nn import init
from ts.nn.modules.hyperparameters import hyperparameters
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter


def _padding_row(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


class _EmbeddingTable(Module):
    """Base class of embedding modules: the table and its initialization."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Tensor

    def _make_table(self, weight: Tensor | None, freeze: bool, device: Any, dtype: Any) -> None:
        self.padding_idx = _padding_row(self.padding_idx, self.num_embeddings)
        shape = [self.num_embeddings, self.embedding_dim]
        if weight is None:
            self.weight = Parameter(ts.empty(shape, device=device, dtype=dtype), requires_grad=not freeze)
            self.reset_parameters()
            return
        if list(weight.shape) != shape:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Initialize the table with random numbers, and the row `padding_idx` with zeros."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx].fill_(0)

    def _options(self, *defaults: tuple[str, Any]) -> str:
        return "".join(
            f", {name}={getattr(self, name)}" for name, usual in defaults if getattr(self, name) != usual
        )


@hyperparameters
class Embedding(_EmbeddingTable):
    """Table with one row vector for each index."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    sparse: bool = False
    _weight: InitVar[Tensor | None] = None
    _freeze: InitVar[bool] = False
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, _weight: Tensor | None, _freeze: bool, device: Any, dtype: Any) -> None:
        self._make_table(_weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + self._options(
            ("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False),
            ("sparse", False),
        )  # fmt: skip

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Create an Embedding with the table `embeddings`."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze
        )


@hyperparameters
class EmbeddingBag(_EmbeddingTable):
    """Sum, mean or maximum of the table rows of each bag of indices."""

    num_embeddings: int
    embedding_dim: int
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    mode: str = "mean"
    sparse: bool = False
    _weight: InitVar[Tensor | None] = None
    include_last_offset: bool = False
    padding_idx: int | None = None
    device: InitVar[Any] = None
    dtype: InitVar[Any] = None

    def __post_init__(self, _weight: Tensor | None, device: Any, dtype: Any) -> None:
        self._make_table(_weight, False, device, dtype)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        options = self._options(("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False))
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{options}, mode={self.mode!r}{padding}"

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> EmbeddingBag:
        """Create an EmbeddingBag with the table `embeddings`."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        module = cls(rows, columns, _weight=embeddings, **options)
        module.weight.requires_grad_(not freeze)
        return module
