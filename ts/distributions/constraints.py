"""Constraints: which values a parameter or a sample may have.

>>> positive.check(ts.tensor([1.0, -1.0])), positive
(tensor([ True, False]), GreaterThan(lower_bound=0.0))
"""

from __future__ import annotations

from typing import Any

import ts
from ts._core.tensor.tensor import Tensor


class Constraint:
    """Whether values are allowed; the last `event_dim` dimensions are one value."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Tensor:
        """True where a value is allowed."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in self.__dict__.items())
        return f"{type(self).__name__.lstrip('_')}({bounds})"


class Real(Constraint):
    """Any number that is not nan."""

    def check(self, value: Any) -> Tensor:
        result: Tensor = value == value
        return result


class GreaterThan(Constraint):
    """Above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Tensor:
        result: Tensor = self.lower_bound < value
        return result


class GreaterThanEq(GreaterThan):
    """Not below a bound."""

    def check(self, value: Any) -> Tensor:
        result: Tensor = self.lower_bound <= value
        return result


class LessThan(Constraint):
    """Below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        result: Tensor = value < self.upper_bound
        return result


class Interval(Constraint):
    """Between two bounds, or one of them."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        result: Tensor = (self.lower_bound <= value) & (value <= self.upper_bound)
        return result


class IntegerInterval(Interval):
    """An integer between two bounds."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value % 1 == 0) & super().check(value)
        return result


class IntegerGreaterThan(GreaterThanEq):
    """An integer that is not below a bound."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value % 1 == 0) & super().check(value)
        return result


class Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value == 0) | (value == 1)
        return result


class Simplex(Constraint):
    """Numbers that are not negative and sum to one."""

    event_dim = 1

    def check(self, value: Any) -> Tensor:
        result: Tensor = (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)
        return result


class LowerCholesky(Constraint):
    """A lower triangular matrix with a positive diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Tensor:
        lower = (value.tril() == value).flatten(-2).all(-1)
        result: Tensor = lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)
        return result


class PositiveDefinite(Constraint):
    """A symmetric matrix with positive eigenvalues."""

    event_dim = 2

    def check(self, value: Any) -> Tensor:
        symmetric = ts.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)
        result: Tensor = symmetric & (ts.linalg.cholesky_ex(value).info == 0)
        return result


class IndependentConstraint(Constraint):
    """A constraint on each number of a value with dimensions."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete

    def check(self, value: Any) -> Tensor:
        result = self.base_constraint.check(value)
        return result.flatten(result.dim() - self.reinterpreted_batch_ndims).all(-1)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


boolean = Boolean()
real = Real()
real_vector = IndependentConstraint(real, 1)
positive = GreaterThan(0.0)
nonnegative = GreaterThanEq(0.0)
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
less_than = LessThan
interval = Interval
integer_interval = IntegerInterval
independent = IndependentConstraint
unit_interval = Interval(0.0, 1.0)
nonnegative_integer = IntegerGreaterThan(0)
positive_integer = IntegerGreaterThan(1)
simplex = Simplex()
lower_cholesky = LowerCholesky()
positive_definite = PositiveDefinite()
