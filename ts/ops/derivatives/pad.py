"""Derivatives of padding.

The gradient of a padded element is added to the gradient of its source element, if it has one.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

derive(
    "aten::constant_pad_nd", self="ts.constant_pad_nd(grad, [-n for n in pad], 0)",
    result="ts.constant_pad_nd(self_t, pad, 0)",
)  # fmt: skip


def around(x: Tensor, pad: list[int]) -> Tensor:
    """Apply circular padding. If a padding amount is negative, the tensor is cropped first."""
    for i in range(len(pad) // 2):
        dim = x.dim() - 1 - i
        a, b = pad[2 * i], pad[2 * i + 1]
        x = x.narrow(dim, max(-a, 0), x.size(dim) - max(-a, 0) - max(-b, 0))
        n = x.size(dim)
        pieces = [x]
        if a > 0:
            pieces = [x.narrow(dim, n - a, a)] + pieces
        if b > 0:
            pieces = pieces + [x.narrow(dim, 0, b)]
        x = ts.cat(pieces, dim) if len(pieces) > 1 else x
    return x


def pad_by_mode(x: Tensor, pad: list[int], mode: str, value: float | None) -> Tensor:
    """Compute `pad` by the operator for `mode` and the number of padded dimensions."""
    if mode == "constant":
        return ts.constant_pad_nd(x, pad, 0.0 if value is None else value)
    if mode == "circular":
        return around(x, pad)
    if mode == "reflect":
        if len(pad) == 2:
            return ts.reflection_pad1d(x, pad)
        return ts.reflection_pad2d(x, pad) if len(pad) == 4 else ts.reflection_pad3d(x, pad)
    if len(pad) == 2:
        return ts.replication_pad1d(x, pad)
    return ts.replication_pad2d(x, pad) if len(pad) == 4 else ts.replication_pad3d(x, pad)


compose("aten::pad", "pad_by_mode(self, pad, mode, value)")
compose(
    "aten::_pad_enum", "pad_by_mode(self, pad, ['reflect', 'replicate', 'circular', 'constant'][mode], value)"
)
for _name in ("reflection", "replication"):
    for _n in (1, 2, 3):
        _pad = f"ts.{_name}_pad{_n}d"
        derive(
            f"aten::{_name}_pad{_n}d", result=LINEAR,
            self=f"{_pad}_backward(grad, grad.new_empty([1]).expand(self.size()), padding)",
        )  # fmt: skip
        derive(f"aten::{_name}_pad{_n}d_backward", grad_output=f"{_pad}(grad, padding)", result=LINEAR)
compose("aten::_pad_circular", "around(self, pad)")
