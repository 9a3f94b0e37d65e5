"""Constraints, which are conditions on the values of parameters and samples.

The example checks which elements of a tensor are positive:

>>> positive.check(ts.tensor([1.0, -1.0])), positive
(tensor([ True, False]), GreaterThan(lower_bound=0.0))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular",
    "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
    "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack",
    "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """Condition that valid values satisfy. The last `event_dim` dimensions form one value."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Tensor:
        """Return a bool tensor that is True for each value that satisfies the constraint."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in self.__dict__.items())
        return f"{type(self).__name__.lstrip('_')}({bounds})"


class _Dependent(Constraint):
    """Constraint that depends on the parameters of a distribution.

    Without an instance of the distribution, only `is_discrete` and `event_dim` may be known.
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """True if the values are discrete. Raises NotImplementedError if that depends on parameters."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return bool(self._is_discrete)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """Number of event dimensions. Raises NotImplementedError if that depends on parameters."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return int(self._event_dim)

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """Return a copy with the given values of `is_discrete` and `event_dim`."""
        current = {"is_discrete": self._is_discrete, "event_dim": self._event_dim}
        overrides = {"is_discrete": is_discrete, "event_dim": event_dim}
        return _Dependent(**current | {k: v for k, v in overrides.items() if v is not NotImplemented})

    def check(self, value: Any) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):  # type: ignore[misc]
    """Decorator for a property that computes a constraint from the parameters of a distribution.

    Accessed on the class instead of an instance, the property is a dependent constraint.
    """

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> dependent_property:  # type: ignore[override]
        """Decorate `fn`.

        This method is called for a decorator with arguments: `@dependent_property(event_dim=1)`.
        """
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Return True if a constraint depends on unknown parameters."""
    return isinstance(constraint, _Dependent)


class Real(Constraint):
    """Numbers other than nan."""

    def check(self, value: Any) -> Tensor:
        result: Tensor = value == value
        return result


class GreaterThan(Constraint):
    """Numbers greater than a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Tensor:
        result: Tensor = self.lower_bound < value
        return result


class GreaterThanEq(GreaterThan):
    """Numbers greater than or equal to a bound."""

    def check(self, value: Any) -> Tensor:
        result: Tensor = self.lower_bound <= value
        return result


class LessThan(Constraint):
    """Numbers less than a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        result: Tensor = value < self.upper_bound
        return result


class Interval(Constraint):
    """Numbers between two inclusive bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        result: Tensor = (self.lower_bound <= value) & (value <= self.upper_bound)
        return result


class HalfOpenInterval(Interval):
    """Numbers in the half-open interval [lower, upper)."""

    def check(self, value: Any) -> Tensor:
        result: Tensor = (self.lower_bound <= value) & (value < self.upper_bound)
        return result


class IntegerInterval(Interval):
    """Integers between two inclusive bounds."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value % 1 == 0) & super().check(value)
        return result


class IntegerGreaterThan(GreaterThanEq):
    """Integers greater than or equal to a bound."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value % 1 == 0) & super().check(value)
        return result


class IntegerLessThan(LessThan):
    """Integers up to an inclusive upper bound."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value % 1 == 0) & (value <= self.upper_bound)
        return result


class Boolean(Constraint):
    """The numbers 0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value == 0) | (value == 1)
        return result


class Simplex(Constraint):
    """Simplex: vectors of nonnegative numbers whose sum is one."""

    event_dim = 1

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)
        return result


class OneHot(Constraint):
    """One-hot vectors."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Tensor:
        result: Tensor = boolean.check(value).all(-1) & (value.sum(-1) == 1)
        return result


class Multinomial(Constraint):
    """Vectors of nonnegative counts whose sum is at most a bound."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value >= 0).all(dim=-1) & (value.sum(dim=-1) <= self.upper_bound)
        return result


class LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value.tril() == value).flatten(-2).all(-1)
        return result


class LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Tensor:
        result: Tensor = lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)
        return result


class CorrCholesky(LowerCholesky):
    """Lower triangular matrices with a positive diagonal and rows of norm 1."""

    def check(self, value: Any) -> Tensor:
        slack = 10 * value.size(-1) * ts.finfo(value.dtype).eps
        unit = ((ts.linalg.norm(value.detach(), dim=-1) - 1).abs() < slack).all(dim=-1)
        result: Tensor = super().check(value) & unit
        return result


class Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Any) -> Tensor:
        square = value.shape[-2] == value.shape[-1]
        result: Tensor = ts.full(value.shape[:-2], square, dtype=ts.bool, device=value.device)
        return result


class Symmetric(Square):
    """Symmetric matrices."""

    def check(self, value: Any) -> Tensor:
        square = super().check(value)
        if not bool(square.all()):
            return square
        result: Tensor = ts.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)
        return result


class PositiveSemidefinite(Symmetric):
    """Positive semidefinite matrices: symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        result: Tensor = (ts.linalg.eigvalsh(value) >= 0).all(-1)
        return result


class PositiveDefinite(Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        result: Tensor = ts.linalg.cholesky_ex(value).info == 0
        return result


class IndependentConstraint(Constraint):
    """Constraint that holds if `base_constraint` holds for all elements along the last batch dimensions.

    The last `reinterpreted_batch_ndims` batch dimensions become event dimensions.
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete

    def check(self, value: Any) -> Tensor:
        result = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if result.dim() < count:
            raise ValueError(
                f"Expected value.dim() >= {self.base_constraint.event_dim + count} but got {value.dim()}"
            )
        return result.flatten(result.dim() - count).all(-1) if count else result

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """Constraint of a mixture: every component's support contains the value."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.event_dim = base_constraint.event_dim
        self.is_discrete = base_constraint.is_discrete

    def check(self, value: Any) -> Tensor:
        each = value.unsqueeze(-1 - self.event_dim)
        result = self.base_constraint.check(each)
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        # Combine the results over the event dimensions, because all elements of an event must satisfy the
        # constraint.
        return result.flatten(value.dim() - self.event_dim).all(-1)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _CompositeConstraint(Constraint):
    """Base class of constraints on values with several parts along a dimension.

    Each part has its own constraint.
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """True if the constraint of any part is discrete."""
        return any(component.is_discrete for component in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """Maximum `event_dim` of the constraints of the parts."""
        return max(component.event_dim for component in self.cseq)


class Cat(_CompositeConstraint):
    """Constraints on consecutive slices of a value along a dimension. By default, each slice has length 1."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    def check(self, value: Any) -> Tensor:
        pieces = value.split(self.lengths, self.dim)
        checked = [component.check(piece) for component, piece in zip(self.cseq, pieces, strict=True)]
        return ts.cat(checked, self.dim)  # type: ignore[no-any-return]


class Stack(_CompositeConstraint):
    """Constraints on the elements along a dimension."""

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """Maximum `event_dim` of the parts.

        If the parts are stacked along an event dimension, it is one more.
        """
        dims = super().event_dim
        return dims + 1 if self.dim + dims < 0 else dims

    def check(self, value: Any) -> Tensor:
        pieces = value.unbind(self.dim)
        checked = [component.check(piece) for component, piece in zip(self.cseq, pieces, strict=True)]
        return ts.stack(checked, self.dim)  # type: ignore[no-any-return]


dependent = _Dependent()
boolean = Boolean()
real: Constraint = Real()
real_vector = IndependentConstraint(real, 1)
positive = GreaterThan(0.0)
nonnegative = GreaterThanEq(0.0)
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
less_than = LessThan
interval = Interval
half_open_interval = HalfOpenInterval
integer_interval = IntegerInterval
independent = IndependentConstraint
unit_interval = Interval(0.0, 1.0)
nonnegative_integer = IntegerGreaterThan(0)
positive_integer = IntegerGreaterThan(1)
simplex: Constraint = Simplex()
one_hot = OneHot()
multinomial = Multinomial
lower_triangular = LowerTriangular()
lower_cholesky: Constraint = LowerCholesky()
corr_cholesky: Constraint = CorrCholesky()
square = Square()
symmetric = Symmetric()
positive_semidefinite: Constraint = PositiveSemidefinite()
positive_definite: Constraint = PositiveDefinite()
cat = Cat
stack = Stack


def __getattr__(name: str) -> Any:
    """Return a constraint class by the name that it has in PyTorch: `_Simplex` is `Simplex`."""
    if name == "_DependentProperty":
        return dependent_property
    constraint = globals().get(name[1:]) if name.startswith("_") else None
    if isinstance(constraint, type) and issubclass(constraint, Constraint):
        return constraint
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
