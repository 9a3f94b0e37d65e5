"""Table of the operators in PyTorch's differentiable graphs.

In `ts`, every operator with a derivative formula can be part of a differentiable graph.  PyTorch's compiler
has formulas only for the operators in this table, which tests of graphs with single operators need to know.
"""

from __future__ import annotations

from ts.ops.registry import OperatorRecord

_KNOWN = """
    abs acos adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d add.Scalar add.Tensor addcmul
    addmm asin atan avg_pool2d batch_norm bmm cat ceil clamp clamp.Tensor cos cosh div.Scalar div.Tensor
    div.Tensor_mode div.Scalar_mode dot dropout embedding erf erfc exp expm1 floor fmod.Scalar frac gelu
    gt.Scalar hardshrink hardsigmoid hardswish hardtanh layer_norm leaky_relu lerp.Scalar lerp.Tensor
    linear log log10 log1p log2 log_softmax.int logsumexp matmul max.other max_pool2d
    max_pool2d_with_indices mean mean.dim min.other mm mul.Scalar mul.Tensor mv native_dropout
    native_layer_norm neg pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor reciprocal relu relu6
    remainder.Scalar round rsqrt rsub.Scalar rsub.Tensor sigmoid silu sin sinh softmax.int softplus sqrt
    squeeze.dim stack std std.correction std.dim sub.Scalar sub.Tensor tan tanh threshold trunc type_as
    var var.correction var.dim where.self
"""
_KEYS = frozenset(f"aten::{key}" for key in _KNOWN.split())


def is_pytorchs(record: OperatorRecord) -> bool:
    """Return whether PyTorch creates a differentiable graph for a single call of the operator."""
    return record.key in _KEYS
