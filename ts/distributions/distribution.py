"""Base class of distributions (batch shape, event shape), with validation and default implementations.

Input: parameters, which are broadcast to the batch shape. Output: samples and densities. Samples have the
shape (*sample, *batch, *event), and densities the shape (*sample, *batch).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import ts
from ts._core.tensor.tensor import Size, Tensor
from ts.distributions.constraints import Constraint, is_dependent

_validate = __debug__


class Distribution:
    """Base class of distributions. Subclasses declare the constraints of their parameters."""

    has_rsample = False
    has_enumerate_support = False
    _validate_args = True  # default of the argument `validate_args`
    # attribute that `expand` expands like the parameters -> number of event dimensions of the attribute
    _extra_event_dims: ClassVar[Mapping[str, int]] = {}
    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}
    support: Any = None

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        self._validate_args = _validate if validate_args is None else validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if is_dependent(constraint):
                    continue
                # A parameter outside of `__dict__` is a property. Properties are not checked.
                if name in self.__dict__:
                    self._check_parameter(name, constraint)

    def _check_parameter(self, name: str, constraint: Constraint) -> None:
        value = self.__dict__[name]
        if not bool(constraint.check(value).all()):
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                f"{_display_value(value)}"
            )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether parameters and values are checked by default."""
        global _validate
        if value not in (True, False):
            raise ValueError
        _validate = value

    @property
    def batch_shape(self) -> Size:
        """Common shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """Shape of one sample."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution with the given batch shape. Its parameters are views of the parameters."""
        batch_shape = Size(batch_shape)
        new: Any = self._get_checked_instance(type(self), _instance)
        new.__dict__.update(self.__dict__)
        event_dims = dict(self._extra_event_dims)
        event_dims |= {name: constraint.event_dim for name, constraint in self.arg_constraints.items()}
        for name, value in self.__dict__.items():
            if isinstance(value, Distribution):
                new.__dict__[name] = value.expand(self._attribute_batch_shape(name, batch_shape))
            elif name in event_dims and isinstance(value, Tensor):
                end = value.shape[value.dim() - event_dims[name] :]
                new.__dict__[name] = value.expand((*batch_shape, *end))
        new._batch_shape = batch_shape
        return new

    def _attribute_batch_shape(self, name: str, batch_shape: Size) -> Any:
        """Return the batch shape for the inner distribution in attribute `name` when `expand` expands it."""
        return batch_shape

    def _get_checked_instance(self, cls: type[Any], _instance: Any = None) -> Any:
        """Return the object whose attributes `expand` sets: `_instance`, or a new object if it is None.

        In the second case, raise NotImplementedError for a subclass of `cls` that defines a constructor. Such
        a subclass must also define `expand`.
        """
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples, without recording gradients."""
        with ts.no_grad():
            return self.rsample(sample_shape).detach()  # type: ignore[no-any-return]

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples, differentiable with respect to the parameters (reparameterization trick)."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Tensor:
        """Return the log-density at `value`."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Tensor:
        """Return the cumulative distribution function at `value`."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Tensor:
        """Return the inverse of `cdf` at `value`."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy, that is, the mean of the negative log-density."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values of the support along a new first dimension."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Draw n samples. Deprecated alias of `sample((n,))`."""
        warnings.warn("sample_n will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2)
        return self.sample((n,))

    @property
    def mean(self) -> Tensor:
        """Mean of the distribution."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """Mode of the distribution."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """Variance of the distribution."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """Standard deviation of the distribution."""
        return self.variance.sqrt()  # type: ignore[no-any-return]

    def perplexity(self) -> Tensor:
        """Return the exponential of the entropy."""
        return ts.exp(self.entropy())  # type: ignore[no-any-return]

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError if values are outside the support."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        sample_event_shape = value.shape[value.dim() - len(self._event_shape) :]
        if tuple(sample_event_shape) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        shape = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.shape), reversed(shape), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {shape}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if support is not None and not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be "
                f"within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{_display_value(value)}"
            )

    def __repr__(self) -> str:
        params = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        formatted = (f"{n}: {p.item() if p.numel() == 1 else p.size()}" for n, p in params.items())
        return f"{type(self).__name__}({', '.join(formatted)})"


def _display_value(value: Any) -> Any:
    return value.item() if value.dim() == 0 else value


class LocationCentered(Distribution):
    """Base class of distributions whose mean and mode are `loc`."""

    loc: Any

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc
