"""Placements (sharded, replicated, partial) of a tensor along one dimension of a device mesh.

The three kinds of placements:

    Shard(0)            each rank has a part of dimension 0
    Replicate()         each rank has the whole tensor
    Partial("avg")      each rank has an operand of the average
"""

from __future__ import annotations

import operator
from typing import SupportsIndex, SupportsInt

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """Base class of placements."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Return True if the tensor is split along dimension `dim`.

        Without `dim`, any dimension is accepted.
        """
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self) -> bool:
        """Return True if each rank has the whole tensor."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Return True if each rank holds one operand of a reduction.

        If `reduce_op` is given, the operation of the reduction must also equal `reduce_op`.
        """
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)


class Shard(Placement):
    """Sharding: placement that splits a tensor along its dimension `dim`, which must be an integer."""

    def __init__(self, dim: SupportsInt | SupportsIndex) -> None:
        if isinstance(dim, (str, bytes)) or not hasattr(type(dim), "__int__"):
            raise TypeError(f"Shard(): argument 'dim' must be an integer, not {type(dim).__name__}")
        self._dim = operator.index(dim) if isinstance(dim, SupportsIndex) else int(dim)

    @property
    def dim(self) -> int:
        """Dimension along which the tensor is split."""
        return self._dim

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shard) and self.dim == other.dim

    def __hash__(self) -> int:
        return hash(self.dim)

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"

    def __str__(self) -> str:
        return f"S({self.dim})"


class Replicate(Placement):
    """Placement that copies a tensor to all ranks."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replicate)

    def __hash__(self) -> int:
        return -1

    def __repr__(self) -> str:
        return "Replicate()"

    def __str__(self) -> str:
        return "R"


class Partial(Placement):
    """Placement of one operand on each rank.

    The whole tensor is the reduction of all operands by `reduce_op` ("sum", ...).
    """

    LINEAR_REDUCE_OPS = ("sum", "avg")
    ALL_REDUCE_OPS = ("sum", "avg", "min", "max", "product")

    def __init__(self, reduce_op: str | None = None) -> None:
        if not isinstance(reduce_op, str | None):
            raise TypeError(f"Partial(): argument 'reduce_op' must be str, not {type(reduce_op).__name__}")
        self._reduce_op = "sum" if reduce_op is None else reduce_op

    @property
    def reduce_op(self) -> str:
        """Name of the reduction."""
        return self._reduce_op

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partial) and self.reduce_op == other.reduce_op

    def __hash__(self) -> int:
        return hash(self.reduce_op)

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"
