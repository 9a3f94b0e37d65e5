"""Transforms of samples (bijectors, change of variables) with log-determinants of Jacobians.

Example:

    t = AffineTransform(1.0, 2.0)
    t(x)                                   1 + 2x
    t.inv(y)                               (y - 1) / 2
    t.log_abs_det_jacobian(x, t(x))        log 2 for each element of x
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any, ClassVar

import ts
from ts._core.tensor.tensor import Size
from ts.distributions import constraints
from ts.distributions.utils import sum_rightmost


class Transform:
    """Invertible function of samples. With `cache_size=1`, the transform caches its last input and output."""

    bijective = False
    domain: Any
    codomain: Any
    # names of the attributes that `with_cache` passes to the constructor to create a copy
    _constructor_arguments: ClassVar[tuple[str, ...]]

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: weakref.ref[Transform] | None = None
        self._last: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None, "_last": (None, None)}

    @property
    def event_dim(self) -> int:
        """Number of event dimensions. Raises ValueError if domain and codomain have different numbers."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return int(self.domain.event_dim)

    @property
    def inv(self) -> Transform:
        """Inverse transform."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """Sign of the derivative of a monotonic transform of numbers."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return a copy with the given cache size, or this transform if it has that cache size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        for cls in type(self).__mro__:
            names = vars(cls).get("_constructor_arguments")
            if names is not None:
                copied: Transform = cls(*(getattr(self, name) for name in names), cache_size=cache_size)
                return copied
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the Jacobian determinant, log |det(dy/dx)|, at `x`, whose image is `y`."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """Return the output shape for an input shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the input shape for an output shape."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """Inverse of a transform.

    It refers to the transform, but the transform only has a weak reference to it.
    """

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._transform = transform

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Codomain of the inverted transform."""
        return self._transform.codomain

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Domain of the inverted transform."""
        return self._transform.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if the inverted transform is bijective."""
        return self._transform.bijective

    @property
    def sign(self) -> Any:
        return self._transform.sign

    @property
    def inv(self) -> Transform:
        return self._transform

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._transform.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._transform == other._transform

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        return self._transform._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._transform.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._transform.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._transform.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._transform!r})"


class ComposeTransform(Transform):
    """Composition of transforms."""

    _constructor_arguments = ("parts",)

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        self.parts = [component.with_cache(cache_size) for component in parts] if cache_size else list(parts)
        super().__init__(cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    def _composed_constraint(self, components: Sequence[Transform], input_name: str, output_name: str) -> Any:
        """Return the domain or the codomain of the composition.

        components                 parts of the composition, in reverse order for the codomain
        input_name, output_name    "domain" and "codomain" for the domain, exchanged for the codomain

        The result is the constraint of the first component, with the event dimensions that the other
        components require.
        """
        if not components:
            return constraints.real
        constraint = getattr(components[0], input_name)
        event_dim = getattr(components[-1], output_name).event_dim
        for component in reversed(components):
            event_dim += getattr(component, input_name).event_dim - getattr(component, output_name).event_dim
            event_dim = max(event_dim, getattr(component, input_name).event_dim)
        extra_ndims = event_dim - constraint.event_dim
        return constraints.independent(constraint, extra_ndims) if extra_ndims else constraint

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Domain of the first part, with the event dimensions of the composition."""
        return self._composed_constraint(self.parts, "domain", "codomain")

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Codomain of the last part, with the event dimensions of the composition."""
        return self._composed_constraint(self.parts[::-1], "codomain", "domain")

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if all parts are bijective."""
        return all(component.bijective for component in self.parts)

    @property
    def sign(self) -> Any:
        return math.prod((component.sign for component in self.parts), start=1)

    @property
    def inv(self) -> Transform:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([component.inv for component in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def __call__(self, x: Any) -> Any:
        for component in self.parts:
            x = component(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return ts.zeros_like(x)
        between = [x]
        for component in self.parts[:-1]:
            between.append(component(between[-1]))
        event_dim, total = self.domain.event_dim, 0
        for component, before, after in zip(self.parts, between, [*between[1:], y], strict=True):
            each = component.log_abs_det_jacobian(before, after)
            total = total + sum_rightmost(each, event_dim - component.domain.event_dim)
            event_dim += component.codomain.event_dim - component.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for component in self.parts:
            shape = component.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for component in reversed(self.parts):
            shape = component.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Transform that treats the last batch dimensions of a base transform as event dimensions."""

    _constructor_arguments = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Domain of the base transform, applied to all elements along the reinterpreted dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Codomain of the base transform, applied to all elements along the reinterpreted dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if the base transform is bijective."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Transform that reshapes the last dimensions."""

    _constructor_arguments = ("in_shape", "out_shape")
    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """Real values of shape `in_shape`."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """Real values of shape `out_shape`."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _replace_trailing_dims(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _replace_trailing_dims(shape, self.out_shape, self.in_shape)


def _replace_trailing_dims(shape: Any, old: Any, new: Any) -> Any:
    """Replace the trailing dimensions `old` of a shape by `new`."""
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    split = len(shape) - len(old)
    if tuple(shape[split:]) != tuple(old):
        raise ValueError(f"Shape mismatch: expected {Size(shape[split:])} but got {Size(old)}")
    return Size((*shape[:split], *new))
