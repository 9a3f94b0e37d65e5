"""Mapping from constraints to transforms (bijections) into the constrained set.

There are two registries:

    biject_to(constraints.positive)            a bijective transform from real to positive numbers
    transform_to(constraints.simplex)          a transform for optimization, not always bijective

`register` adds a constraint class and a function, which creates the transform of a constraint.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ts.distributions import constraints, transforms

Factory = Callable[[Any], transforms.Transform]


class ConstraintRegistry:
    """Registry of functions that create transforms, by constraint class."""

    def __init__(self) -> None:
        self._factories: dict[type[Any], Factory] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register `factory` as the function that creates the transforms of a constraint class."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._factories[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """Return the transform for a constraint.

        Raise NotImplementedError if the constraint's class is not registered.
        """
        factory = self._factories.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _register_in_both(*kinds: Any) -> Callable[[Factory], Factory]:
    def add(factory: Factory) -> Factory:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return add


@_register_in_both(constraints.real)
def _real(constraint: Any) -> Any:
    return transforms.identity_transform


def _independent(registry: ConstraintRegistry, constraint: Any) -> Any:
    base = registry(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@_register_in_both(constraints.greater_than, constraints.greater_than_eq)
def _greater_than(constraint: Any) -> Any:
    lower = constraint.lower_bound
    if isinstance(lower, float | int) and lower == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(lower, 1)])


@_register_in_both(constraints.less_than)
def _less_than(constraint: Any) -> Any:
    affine = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), affine])


@_register_in_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Any:
    lower, upper = constraint.lower_bound, constraint.upper_bound
    if isinstance(lower, float | int) and isinstance(upper, float | int) and (lower, upper) == (0, 1):
        return transforms.SigmoidTransform()
    affine = transforms.AffineTransform(lower, upper - lower)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), affine])


def _cat(registry: ConstraintRegistry, constraint: Any) -> Any:
    components = [registry(component) for component in constraint.cseq]
    return transforms.CatTransform(components, constraint.dim, constraint.lengths)


def _stack(registry: ConstraintRegistry, constraint: Any) -> Any:
    return transforms.StackTransform([registry(component) for component in constraint.cseq], constraint.dim)


# The transform of a composite constraint consists of the transforms of the component constraints, from the
# same registry.
for _registry in (biject_to, transform_to):
    _registry.register(constraints.independent, partial(_independent, _registry))
    _registry.register(constraints.cat, partial(_cat, _registry))
    _registry.register(constraints.stack, partial(_stack, _registry))

biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda _: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda _: transforms.PositiveDefiniteTransform())
_register_in_both(constraints.corr_cholesky)(lambda _: transforms.CorrCholeskyTransform())
