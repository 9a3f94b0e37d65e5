"""Numerical Jacobians by finite differences, and analytical Jacobians by backward passes and by tangents.

Input: a function and its arguments. Output: a matrix for each pair of an argument and a result. Its rows are
the elements of the argument, and its columns the elements of the result.

If x has 3 elements and the result has 2, the example returns one matrix of shape (3, 2), in a list:

    by_differences(f, (x,), 0, eps)

For a complex argument and a real result, an element is d/dx + i d/dy, as in backward. If a direction is
given, the matrix has a single row or column: the derivative along this direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ts
from ts import Tensor
from ts._core.autograd.backward import grad
from ts.autograd import forward_ad

Function = Callable[..., Any]


def as_tuple(x: Any) -> tuple[Any, ...]:
    """Return a tuple unchanged, a list as a tuple, and another value as a one-item tuple."""
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def differentiable(results: Any) -> tuple[Tensor, ...]:
    """Return the results that require grad."""
    return tuple(x for x in as_tuple(results) if x.requires_grad)


def differentiable_indices(inputs: tuple[Any, ...]) -> list[int]:
    """Return the indices of the arguments that require grad."""
    return [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]


def has_tangents(x: Any) -> bool:
    """Return True if a value is a floating-point or complex tensor, which can have a tangent."""
    return isinstance(x, Tensor) and (x.is_floating_point() or x.is_complex())


def unit_directions(x: Tensor) -> Iterator[Tensor]:
    """Yield, for each element of `x`, a tensor like `x` that is 1 at the element and 0 elsewhere."""
    for k in range(x.numel()):
        direction = ts.zeros(x.numel(), dtype=x.dtype, device=x.device)
        direction[k] = 1
        yield direction.reshape(x.shape)


# ---------------------------------------------------------------- differences


def by_differences(
    function: Function,
    inputs: tuple[Any, ...],
    i: int,
    eps: float,
    direction: Any = None,
    *,
    forward: bool = False,
) -> list[Tensor]:
    """Return, for each result, its derivatives with respect to argument `i`, computed by finite differences.

    If `direction` is given, each result has only the derivative along this direction. Otherwise, it has one
    derivative per element of the argument. Raises AssertionError if the shapes or dtypes of the results
    depend on the argument.
    """
    x = inputs[i]
    if direction is None:
        real = x.real if x.is_complex() else x
        rows = [
            _difference_quotient(
                function, inputs, i, eps, step, step, f"on index {_index(k, x.shape)} ", forward
            )
            for k, step in enumerate(unit_directions(real.detach()))
        ]
        if not rows:
            results = as_tuple(function(*inputs))
            return [ts.zeros(0, y.numel(), dtype=_entry_dtype(x, y, forward)) for y in results]
        return [ts.stack(column) for column in zip(*rows, strict=True)]
    u, v = direction if isinstance(direction, tuple) else (direction, direction)
    return _difference_quotient(function, inputs, i, eps, u.reshape(x.shape), v.reshape(x.shape), "", forward)


def _index(k: int, shape: Any) -> tuple[int, ...]:
    index: list[int] = []
    for n in reversed(shape):
        k, last = divmod(k, n)
        index.insert(0, last)
    return tuple(index)


def _entry_dtype(x: Tensor, y: Tensor, forward: bool) -> Any:
    return x.dtype if x.is_complex() and not forward else y.dtype


def _difference_quotient(
    function: Function,
    inputs: tuple[Any, ...],
    i: int,
    eps: float,
    u: Tensor,
    v: Tensor,
    description: str,
    forward: bool,
) -> list[Tensor]:
    derivatives = _central_difference(function, inputs, i, eps, u, description)
    if not inputs[i].is_complex():
        return derivatives
    imaginary = _central_difference(function, inputs, i, eps, v * 1j, description)
    return [dx + dy * 1j for dx, dy in zip(derivatives, imaginary, strict=True)]


def _central_difference(
    function: Function, inputs: tuple[Any, ...], i: int, eps: float, direction: Tensor, description: str
) -> list[Tensor]:
    """Return (f(x + eps u) - f(x - eps u)) / (2 eps).

    `x` is modified in place, because `f` may capture it.
    """
    x = inputs[i].data
    original = x.clone()
    outputs = []
    for sign in (-1, 1):
        x.copy_(original + direction * (sign * eps))
        outputs.append([y.clone() for y in as_tuple(function(*inputs))])
    x.copy_(original)
    return [_difference(a, b, eps, description) for a, b in zip(*outputs, strict=True)]


def _difference(a: Tensor, b: Tensor, eps: float, description: str) -> Tensor:
    for property_name, first, second in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
        if first != second:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {property_name} when inputs are "
                f"perturbed {description}by {eps}, but got: {property_name}s {first} and {second}."
            )
    return ((b - a) / (2 * eps)).detach().reshape(-1)


# ---------------------------------------------------------------- backward passes


class BackwardJacobian:
    """Jacobian matrices of one result.

    `sizes_hold` is True if each gradient has the shape of its argument, and `dtypes_hold` if it has the
    dtype.
    """

    def __init__(self, matrices: list[Tensor], sizes_hold: bool, dtypes_hold: bool) -> None:
        self.matrices = matrices
        self.sizes_hold = sizes_hold
        self.dtypes_hold = dtypes_hold


def by_tape(result: Tensor, inputs: tuple[Any, ...], direction: Tensor | None = None) -> BackwardJacobian:
    """Compute a Jacobian for each argument that requires grad, by a backward pass per result element.

    If `direction` is given, a single backward pass computes the derivative along this direction.
    """
    leaves = [inputs[i] for i in differentiable_indices(inputs)]
    if direction is None:
        directions = [d.contiguous() for d in unit_directions(result.detach())]
    else:
        directions = [direction.reshape(result.shape)]
    columns: list[list[Tensor]] = [[] for _ in leaves]
    sizes_hold = dtypes_hold = True
    for d in directions:
        gradients = grad(result, leaves, d, retain_graph=True, allow_unused=True)
        for column, x, g in zip(columns, leaves, gradients, strict=True):
            if g is None:
                g = ts.zeros_like(x)
            elif g.shape != x.shape:
                sizes_hold = False
                g = ts.zeros_like(x)
            elif g.dtype is not x.dtype:
                dtypes_hold = False
            column.append(g.detach().clone().reshape(-1).to(x.dtype))
    matrices = [
        ts.stack(column, 1) if column else ts.zeros(x.numel(), 0, dtype=x.dtype)
        for column, x in zip(columns, leaves, strict=True)
    ]
    return BackwardJacobian(matrices, sizes_hold, dtypes_hold)


# ---------------------------------------------------------------- tangents


def by_tangents(
    function: Function, inputs: tuple[Any, ...], directions: list[Any] | None, check_dtypes: bool
) -> list[list[Tensor]]:
    """Return, for each argument that requires grad, a list with the Jacobian of each result, by forward mode.

    If `check_dtypes`, raise TypeError unless each result and its tangent are both real or both complex.
    """
    matrices = []
    for k, i in enumerate(differentiable_indices(inputs)):
        x = inputs[i].detach()
        steps = list(unit_directions(x)) if directions is None else [directions[k].reshape(x.shape)]
        rows = [_tangents(function, inputs, i, step, check_dtypes) for step in steps]
        if directions is not None:
            matrices.append(rows[0])
        elif rows:
            matrices.append([ts.stack(column) for column in zip(*rows, strict=True)])
        else:
            results = [y for y in as_tuple(function(*inputs)) if has_tangents(y)]
            matrices.append([ts.zeros(0, y.numel(), dtype=y.dtype) for y in results])
    return matrices


def _tangents(
    function: Function, inputs: tuple[Any, ...], i: int, direction: Tensor, check_dtypes: bool
) -> list[Tensor]:
    with forward_ad.dual_level():
        duals = [
            forward_ad.make_dual(x.detach(), direction if k == i else ts.zeros_like(x))
            if isinstance(x, Tensor) and x.requires_grad else x
            for k, x in enumerate(inputs)
        ]  # fmt: skip
        tangents = []
        for y in as_tuple(function(*duals)):
            if not has_tangents(y):
                continue
            primal, tangent = forward_ad.unpack_dual(y)
            if tangent is None:
                tangent = ts.zeros_like(primal)
            elif check_dtypes and primal.is_complex() != tangent.is_complex():
                raise TypeError("Forward AD gradient has dtype mismatch.")
            tangents.append(tangent.detach().reshape(-1))
        return tangents
