"""Derivatives of PyTorch's internal reshaping operators, and of `flatten_dense_tensors` and its inverse.

Compilers insert the internal operators, such as `_unsafe_view` and `_reshape_alias`.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

derive(
    "aten::_unsafe_view aten::_reshape_alias aten::_reshape_alias_copy aten::_reshape_copy",
    self="grad.reshape(self.size())", result=LINEAR,
)  # fmt: skip
derive(
    "aten::_reshape_from_tensor aten::_ncf_unsqueeze aten::_ncf_view",
    self="grad.reshape(self.size())", result=LINEAR, name="ViewBackward0",
)  # fmt: skip


def cut(flat: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """Split a vector into consecutive sections, and reshape these to the shapes of `tensors`."""
    chunks = flat.split([x.numel() for x in tensors])
    return [chunk.reshape(x.size()) for chunk, x in zip(chunks, tensors)]


compose("aten::flatten_dense_tensors", "ts.cat([x.reshape(-1) for x in tensors])")
compose("aten::unflatten_dense_tensors", "cut(flat, tensors)")
