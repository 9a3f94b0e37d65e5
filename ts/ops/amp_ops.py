"""Operators of gradient scaling (loss scaling) by `GradScaler`, which unscale gradients and update the scale.

The example calls both operators:

    _amp_foreach_non_finite_check_and_unscale_([g], found, inverse_scale)
    _amp_update_scale_(scale, steps, found, 2.0, 0.5, 2000)

The first operator multiplies gradients in place by `inverse_scale`. It sets `found` to 1 if a gradient
contains inf or NaN. The second operator updates the scale for the next step. The host reads no element, so
all values remain on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ts.ops import common
from ts.ops.registry import op

Array = common.Array

_UNSCALED: Final = "_amp_foreach_non_finite_check_and_unscale_cpu"


@op(
    "aten::_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, "
    "Tensor inv_scale) -> ()"
)
def _unscale(xp: Any, self: Sequence[Array], found_inf: Array, inv_scale: Array) -> Sequence[Array]:
    """Multiply each gradient by `inv_scale` in place.

    Set `found_inf` to 1 if a gradient contains inf or NaN.
    """
    _check(xp, "found_inf", found_inf)
    _check(xp, "inv_scale", inv_scale)
    for x in self:
        if common.CATEGORY_OF[x.dtype] < common.FLOATING:
            common.raise_unsupported_dtype(_UNSCALED, x.dtype)
        wide = x.astype(xp.float32) if x.dtype.itemsize == 2 else x
        is_finite = xp.all(xp.isfinite(wide)).astype(xp.float32)
        found_inf[...] = xp.maximum(found_inf, 1 - is_finite)
        x[...] = (wide * inv_scale.reshape(()).astype(wide.dtype)).astype(x.dtype)
    return self


@op(
    "aten::_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, "
    "float scale_growth_factor, float scale_backoff_factor, int growth_interval) -> Tensor(a!)"
)
def _update_scale(
    xp: Any,
    self: Array,
    growth_tracker: Array,
    found_inf: Array,
    growth: float,
    backoff: float,
    interval: int,
) -> Array:
    """Decrease the scale if the gradients contain inf or NaN. Increase it after `interval` steps without.

    If the increased scale would be infinite, do not increase it.
    """
    _check(xp, "growth_tracker", growth_tracker, xp.int32, "an int")
    _check(xp, "current_scale", self)
    _check(xp, "found_inf", found_inf)
    scale, has_inf = self.reshape(()).astype(xp.float64), found_inf.reshape(()) != 0
    steps = growth_tracker.reshape(()) + 1
    is_due = steps == interval
    grown = (scale * growth).astype(xp.float32)
    next_scale = xp.where(is_due & xp.isfinite(grown), grown, scale)
    self[...] = xp.where(has_inf, scale * backoff, next_scale)
    growth_tracker[...] = xp.where(has_inf | is_due, 0, steps)
    return self


def _check(xp: Any, name: str, x: Array, dtype: Any = None, article: str = "a float") -> None:
    if x.size != 1:
        raise RuntimeError(f"{name} must be a 1-element tensor.")
    if x.dtype != (xp.float32 if dtype is None else dtype):
        raise RuntimeError(f"{name} must be {article} tensor.")
