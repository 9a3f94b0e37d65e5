"""Batching rules of reductions and scans.

Dimension arguments are increased by 1, because dimension 0 is the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import Call, Unbatched
from ts._core.tensor.tensor import Tensor
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.rules import flatten_elements
from ts.ops.vmap_rules.views import along_dims, shift_dim


def over_all(function: Callable[..., Any]) -> Callable[[Call], Any]:
    """Return the batching rule of a reduction over all elements.

    `function` is called with the batch of flattened elements, the dimension 1, and the other arguments.
    """

    def rule(call: Call) -> Any:
        x: Tensor = call.values[0]
        return function(flatten_elements(x), 1, *call.values[1:])

    return rule


def _arg_extreme(name: str) -> Callable[[Call], Any]:
    """Return the batching rule of `argmax` or `argmin`, along a dimension or over all elements."""

    def rule(call: Call) -> Any:
        x: Tensor = call.values[0]
        _, dim, keepdim = call.values[:3]
        if dim is None:
            indices = getattr(flatten_elements(x), name)(1)
            return indices.reshape([x.shape[0], *[1] * (x.dim() - 1)]) if keepdim else indices
        return along_dims("dim")(call)

    return rule


def _vector_norm(call: Call) -> Any:
    _, order, dim, keepdim, dtype = call.values
    x: Tensor = call.values[0]
    if dim is None:
        norms = call.run([flatten_elements(x), order, [1], False, dtype])
        return norms.reshape([x.shape[0], *[1] * (x.dim() - 1)]) if keepdim else norms
    return along_dims("dim")(call)


def _aminmax(call: Call) -> Any:
    if call["dim"] is not None:
        return along_dims("dim")(call)
    extremes = flatten_elements(call.values[0]).aminmax(dim=1)
    if not call["keepdim"]:
        return extremes
    return tuple(x.reshape([call.size, *[1] * call.rank(0)]) for x in extremes)


def _count_nonzero(call: Call) -> Any:
    if call["dim"] is not None:
        return along_dims("dim")(call)
    return call.run([flatten_elements(call.values[0]), 1])


def _norm(call: Call) -> Any:
    x, order = call.values[:2]
    return flatten_elements(x).norm(2 if order is None else order, 1)


batch(
    "sum.dim_IntList nansum mean.dim std.dim std.correction var.dim var.correction std_mean.dim "
    "std_mean.correction "
    "var_mean.dim var_mean.correction amax amin any.dims all.dims count_nonzero.dim_IntList",
    along_dims(optional_dims="dim"),
)
batch(
    "prod.dim_int max.dim min.dim any.dim all.dim logsumexp cumsum cumprod logcumsumexp "
    "cummax cummin _cummax_helper _cummin_helper softmax.int log_softmax.int _softmax _log_softmax "
    "_safe_softmax _softmax_backward_data _log_softmax_backward_data "
    "sort sort.stable argsort argsort.stable topk kthvalue median.dim nanmedian.dim mode glu glu_backward "
    "glu_jvp norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype fft_fft fft_ifft fft_rfft fft_irfft",
    along_dims("dim"),
)
batch("_fft_c2c _fft_r2c _fft_c2r fft_fftshift fft_ifftshift", along_dims(optional_dims="dim"))
batch("sum", over_all(lambda x, d, dtype: x.sum(d, dtype=dtype)))
batch("mean", over_all(lambda x, d, dtype: x.mean(d, dtype=dtype)))
batch("prod", over_all(lambda x, d, dtype: x.prod(d, dtype=dtype)))
batch("std", over_all(lambda x, d, unbiased: x.std(d, unbiased=unbiased)))
batch("var", over_all(lambda x, d, unbiased: x.var(d, unbiased=unbiased)))
batch("std_mean", over_all(lambda x, d, unbiased: ts.std_mean(x, d, unbiased=unbiased)))
batch("var_mean", over_all(lambda x, d, unbiased: ts.var_mean(x, d, unbiased=unbiased)))
batch("max", over_all(lambda x, d: x.amax(d)))
batch("min", over_all(lambda x, d: x.amin(d)))
batch("any", over_all(lambda x, d: x.any(d)))
batch("all", over_all(lambda x, d: x.all(d)))
batch("median", over_all(lambda x, d: x.median(d).values))
batch("nanmedian", over_all(lambda x, d: x.nanmedian(d).values))
batch("argmax", _arg_extreme("argmax"))
batch("argmin", _arg_extreme("argmin"))
batch("aminmax", _aminmax)
batch("count_nonzero", _count_nonzero)
batch("linalg_vector_norm", _vector_norm)
batch("norm.Scalar", _norm)
batch("renorm", lambda call: ts.stack([x.renorm(*call.values[1:]) for x in call.values[0].unbind(0)]))
batch("dist", lambda call: flatten_elements(call.expanded(0) - call.expanded(1)).norm(call["p"], 1))
batch("trace", lambda call: call.values[0].diagonal(0, 1, 2).sum(1))
batch("linalg_cross", along_dims("dim"))


def _sum_to_size(call: Call) -> Any:
    """Apply the batching rule of `sum_to_size`: sum over the expanded dimensions."""
    x, size = call.values[:2]
    rank = call.rank(0)
    lead = rank - len(size)
    dims = [*range(lead), *(lead + d for d, n in enumerate(size) if n == 1 and x.shape[1 + lead + d] != 1)]
    total = x.sum([shift_dim(d, rank) for d in dims], True) if dims else x
    return total.reshape([x.shape[0], *size])


# The operators in the next line return a single result for the whole batch.
batch("_is_any_true _is_all_true", lambda call: Unbatched(call.run(call.values)))
batch("sum_to_size _grad_sum_to_size", _sum_to_size)
