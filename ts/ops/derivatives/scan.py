"""Derivatives of cumulative sums, products and extremes."""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive


def sums_from(x: Tensor, dim: int) -> Tensor:
    """Return the reverse cumulative sum along `dim`."""
    return x if x.dim() == 0 else x.flip([dim]).cumsum(dim).flip([dim])


derive("aten::cumsum", self="sums_from(grad, dim)", result=LINEAR)


def of_products(grad: Tensor, x: Tensor, result: Tensor, dim: int) -> Tensor:
    """Return the gradient of the input `x` of cumprod.

    If `x` contains no zero, divide by the elements. Otherwise, the gradient of element i is s[i] times the
    product of all previous elements. Here, s[i] = grad[i] + x[i + 1] * s[i + 1].
    """
    if not bool(ts._is_any_true(x == 0)):
        return sums_from(grad * result.conj(), dim) / x.conj()
    if x.dim() == 0:
        return grad
    grads, values = grad.unbind(dim), x.conj().unbind(dim)
    at = len(grads) - 1
    later = [grads[at]]
    for i in range(at):
        later.append(grads[at - i - 1] + values[at - i] * later[i])
    before = ts.cat([ts.ones_like(x.narrow(dim, 0, 1)), x.narrow(dim, 0, at)], dim).cumprod(dim)
    return before.conj() * ts.stack(later, dim).flip([dim])


derive("aten::cumprod", self="of_products(grad, self, result, dim)")


def of_log_sums(grad: Tensor, x: Tensor, result: Tensor, dim: int) -> Tensor:
    """Return the gradient of `logcumsumexp`.

    Compute it from logarithms, separately for the positive and for the negative elements of `grad`.
    """
    if grad.dim() == 0 or grad.numel() == 0:
        return grad
    if grad.is_complex():
        nothing = ts.nan_to_num(ts.real(grad).new_full([], float("-inf")))
        log = ts.where(grad == 0, nothing, ts.where(grad == 0, 1, grad).log())
        return ((log - result.conj()).flip([dim]).logcumsumexp(dim).flip([dim]) + x.conj()).exp()
    # Use the lowest finite number in place of log(0), because -inf would result in NaN.
    nothing = ts.nan_to_num(grad.new_full([], float("-inf")))
    above = ts.where(grad > 0, grad, 1).log()
    above = ts.where(grad <= 0, nothing, above)
    below = ts.where(grad < 0, -grad, 1).log()
    below = ts.where(grad >= 0, nothing, below)
    up = (above - result).flip([dim]).logcumsumexp(dim).flip([dim]) + x
    down = (below - result).flip([dim]).logcumsumexp(dim).flip([dim]) + x
    return up.exp() - down.exp()


derive("aten::logcumsumexp", self="of_log_sums(grad, self, result, dim)")
compose("aten::_logcumsumexp", "ts.logcumsumexp(self, dim)")


def scatter_add_gradient(grad: Tensor, indices: Tensor, dim: int) -> Tensor:
    """Return a tensor of zeros to which `grad` is added at `indices`, the positions of selected elements."""
    return ts.zeros_like(grad).scatter_add(dim, indices, grad)


derive(
    "aten::cummax aten::cummin", self="scatter_add_gradient(grad, indices, dim)",
    result={"values": "self_t.gather(dim, indices)"},
)  # fmt: skip

# ---------------------------------------------------------------------------------------- differences


def differences(x: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """Compute `diff` by subtraction of slices."""
    pieces = [x]
    if prepend is not None:
        pieces = [prepend] + pieces
    if append is not None:
        pieces = pieces + [append]
    result = ts.cat(pieces, dim) if len(pieces) > 1 else x
    for _ in range(min(n, result.size(dim))):
        count = result.size(dim) - 1
        before, after = result.narrow(dim, 0, count), result.narrow(dim, 1, count)
        result = ts.logical_xor(after, before) if x.dtype == ts.bool else after - before
    return result


def heights(y: Tensor, dim: int) -> Tensor:
    """Return the sums of adjacent elements along `dim`."""
    count = max(y.size(dim) - 1, 0)
    return y.narrow(dim, min(1, y.size(dim)), count) + y.narrow(dim, 0, count)


def integral(y: Tensor, dx: float, dim: int) -> Tensor:
    """Return the integral of `y` by the trapezoidal rule. Adjacent points have the distance `dx`."""
    if y.size(dim) == 0:
        return y.sum([dim])
    last = y.select(dim, -1)
    ends = (y.select(dim, 0) + last) * 0.5
    return (y.sum([dim]) - ends) * dx


def cumulative_integral(y: Tensor, dx: float, dim: int) -> Tensor:
    """Return the cumulative integral by the trapezoidal rule for points with distance `dx`."""
    sums = ts.slice(y, dim, 0, -1) + ts.slice(y, dim, 1)
    return (sums * (dx / 2)).cumsum(dim)


def areas(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Return twice the area of the trapezoid below each pair of adjacent points (x, y)."""
    at = dim - y.dim() if dim >= 0 else dim  # negative index of the dimension
    if x.dim() == 1:
        return heights(y, dim) * x.diff().reshape([-1] + [1] * (-1 - at))
    return heights(y, dim) * x.diff(dim=at)


compose("aten::diff", "differences(self, n, dim, prepend, append)")
compose("aten::trapz.x aten::trapezoid.x", "areas(y, x, dim).sum([dim]) / 2")
compose("aten::trapz.dx aten::trapezoid.dx", "integral(y, float(dx), dim)")
compose("aten::cumulative_trapezoid.x", "areas(y, x, dim).cumsum(dim) / 2")
compose("aten::cumulative_trapezoid.dx", "cumulative_integral(y, float(dx), dim)")
