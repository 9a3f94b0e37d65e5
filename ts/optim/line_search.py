"""Line search with cubic interpolation, which satisfies the strong Wolfe conditions.

First, the step length grows until two lengths bracket an acceptable length. Then cubic interpolation of
losses and slopes reduces the bracket. These are algorithms 3.5 and 3.6 in Nocedal and Wright, Numerical
Optimization.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ts._core.tensor.tensor import Tensor

Slope = Callable[[float], tuple[float, Tensor]]  # function from a step length to loss and gradient


@dataclass
class LineSearchPoint:
    """Step length, with the loss, gradient and directional derivative at this length."""

    at: Any
    loss: float
    grad: Tensor
    slope: Any  # directional derivative of the loss along the search direction


def cubic_minimum(a: LineSearchPoint, b: LineSearchPoint, bounds: tuple[Any, Any] | None = None) -> Any:
    """Return the step length within `bounds` that minimizes the cubic through two points.

    If the cubic has no minimum, return the midpoint of the bounds.
    """
    low, high = bounds if bounds is not None else (a.at, b.at) if a.at <= b.at else (b.at, a.at)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.at - b.at)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    if a.at <= b.at:
        minimum = b.at - (b.at - a.at) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        minimum = a.at - (a.at - b.at) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(minimum, low), high)


def strong_wolfe(
    slope_at: Slope,
    length: Any,
    direction: Tensor,
    loss: float,
    grad: Tensor,
    slope: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_evaluations: int = 25,
) -> tuple[float, Tensor, Any, int]:
    """Find a step length. Return the loss, the gradient, the length, and the number of `slope_at` calls."""
    size = direction.abs().max()
    start = LineSearchPoint(0, loss, grad.clone(), slope)
    evaluations = 0

    def evaluate(step_length: Any) -> LineSearchPoint:
        nonlocal evaluations
        evaluations += 1
        loss_there, grad_there = slope_at(step_length)
        return LineSearchPoint(step_length, loss_there, grad_there.clone(), grad_there.dot(direction))

    def has_sufficient_decrease(point: LineSearchPoint) -> bool:
        return bool(point.loss <= start.loss + c1 * point.at * slope)

    def has_small_slope(point: LineSearchPoint) -> bool:
        return bool(abs(point.slope) <= -c2 * slope)

    before, current = start, evaluate(length)
    bracket: list[LineSearchPoint] = []
    iterations = 0
    while iterations < max_evaluations:
        if not has_sufficient_decrease(current) or (iterations > 1 and current.loss >= before.loss):
            bracket = [before, current]
            break
        if has_small_slope(current):
            return current.loss, current.grad, current.at, evaluations
        if current.slope >= 0:
            bracket = [before, current]
            break
        bounds = (current.at + 0.01 * (current.at - before.at), current.at * 10)
        before, current = current, evaluate(cubic_minimum(before, current, bounds))
        iterations += 1
    if not bracket:
        bracket = [start, current]
    best = _zoom(
        bracket,
        evaluate,
        has_sufficient_decrease,
        has_small_slope,
        iterations,
        max_evaluations,
        size,
        tolerance_change,
    )
    return best.loss, best.grad, best.at, evaluations


def _zoom(
    bracket: list[LineSearchPoint],
    evaluate: Callable[[Any], LineSearchPoint],
    has_sufficient_decrease: Callable[[LineSearchPoint], bool],
    has_small_slope: Callable[[LineSearchPoint], bool],
    iterations: int,
    max_evaluations: int,
    size: Any,
    tolerance_change: float,
) -> LineSearchPoint:
    """Reduce a bracket that contains an acceptable point (zoom phase), and return its best point."""
    was_near_end = False
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    while iterations < max_evaluations:
        first, last = sorted(point.at for point in bracket)
        if (last - first) * size < tolerance_change:
            break
        step_length = cubic_minimum(bracket[0], bracket[1])
        margin = 0.1 * (last - first)
        # do not choose a point near an end of the bracket twice in succession
        if min(last - step_length, step_length - first) < margin:
            if was_near_end or step_length >= last or step_length <= first:
                step_length = (
                    last - margin if abs(step_length - last) < abs(step_length - first) else first + margin
                )
                was_near_end = False
            else:
                was_near_end = True
        else:
            was_near_end = False
        point = evaluate(step_length)
        iterations += 1
        if not has_sufficient_decrease(point) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = has_small_slope(point)
        if not done and point.slope * (bracket[high].at - bracket[low].at) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if done:
            break
    return bracket[low]


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    """Return the position within `bounds` that minimizes the cubic through two points with given slopes."""
    return cubic_minimum(LineSearchPoint(x1, f1, g1, g1), LineSearchPoint(x2, f2, g2, g2), bounds)


def _strong_wolfe(
    obj_func: Callable[..., tuple[float, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, Any, int]:
    """Find a step length from `x` along a direction, with PyTorch's interface of `strong_wolfe`."""

    def slope_at(length: float) -> tuple[float, Tensor]:
        return obj_func(x, length, d)

    return strong_wolfe(slope_at, t, d, f, g, gtd, c1, c2, tolerance_change, max_ls)
