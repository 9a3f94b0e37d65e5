"""Derivatives of scatter operators.

The gradient of `source` is the gradient of the result at the written elements.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import mul_conj
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive

# ---------------------------------------------------------------------------------------- scatter


def pad_to_sizes(x: Tensor, sizes: list[int]) -> Tensor:
    """Pad `x` with zeros at the end of each dimension to the shape `sizes`.

    `x` is a gradient in the shape of the index of a scatter operator, and `sizes` is the shape of its source.
    """
    if x.size() == sizes:
        return x
    rest: list[int] = []
    for n, m in zip(sizes, x.size()):
        rest = [0, n - m] + rest
    return ts.constant_pad_nd(x, rest)


def slice_like_index(source: Tensor, index: Tensor) -> Tensor:
    """Return the leading elements of `source`, in the shape of `index`. Scatter operators read only these."""
    for dim in range(index.dim()):
        source = source.narrow(dim, 0, index.size(dim))
    return source


derive(
    "aten::scatter.src",
    self="grad.scatter(dim, index, 0)",
    src="pad_to_sizes(grad.gather(dim, index), src.size())",
    result=LINEAR,
)
derive(
    "aten::scatter.value", self="grad.scatter(dim, index, 0)", result="self_t.scatter(dim, index, 0)",
    name="ScatterBackward1",
)  # fmt: skip


def scatter_with_reduction(x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str) -> Tensor:
    """Compute `scatter` with reduction `reduce` by `scatter_reduce`."""
    names = {"add": "sum", "multiply": "prod"}
    return x.scatter_reduce(dim, index, source, names[reduce])


compose("aten::scatter.reduce", "scatter_with_reduction(self, dim, index, src, reduce)")
compose(
    "aten::scatter.value_reduce",
    "scatter_with_reduction(self, dim, index, ts.full_like(index, value, dtype=self.dtype), reduce)",
)
derive(
    "aten::scatter_add", self="grad", src="pad_to_sizes(grad.gather(dim, index), src.size())", result=LINEAR
)

# ----------------------------------------------------------------------------------- scatter with a reduction


def of_product(
    grad: Tensor,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    include_self: bool,
    result: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the target and the source of `scatter_reduce` with "prod".

    The factor for a source element is the product of the other elements with the same target. If the element
    is not 0, the factor is result / element.
    """
    others = ts.ones_like(x).scatter_reduce(dim, index, source, "prod")
    none = source == 0
    zeros = ts.zeros_like(x).scatter_add(dim, index, none.to(x.dtype)).gather(dim, index)
    nonzero = source.masked_fill(none, 1)
    rest = x.scatter_reduce(dim, index, nonzero, "prod", include_self=include_self).gather(dim, index)
    is_only_zero = zeros == none.to(zeros.dtype)  # True if an element is the only zero in its product
    of_zeros = rest.masked_fill(is_only_zero.logical_not(), 0)
    return grad * others, grad.gather(dim, index) * ts.where(
        none, of_zeros, result.gather(dim, index) / nonzero
    )


def of_mean(grad: Tensor, dim: int, index: Tensor, include_self: bool) -> tuple[Tensor, Tensor]:
    """Return the gradients of the target and the source of `scatter_reduce` with "mean"."""
    ones = ts.ones_like(index, dtype=grad.dtype)
    counts = ts.ones_like(grad) if include_self else ts.zeros_like(grad)
    share = grad / counts.scatter_add(dim, index, ones).clamp(min=1)
    return share, share.gather(dim, index)


def of_extreme(
    grad: Tensor, x: Tensor, dim: int, index: Tensor, source: Tensor, result: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the target and the source of `scatter_reduce` with "amax" or "amin".

    If several elements equal the maximum or minimum, each gets an equal part of the gradient.
    """
    in_target = (x == result).to(grad.dtype)
    in_source = (source == result.gather(dim, index)).to(grad.dtype)
    share = grad / in_target.scatter_add(dim, index, in_source)
    return in_target * share, in_source * share.gather(dim, index)


def of_reduced(
    grad: Tensor,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
    result: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the target and the source of `scatter_reduce`."""
    sizes, source = source.size(), slice_like_index(source, index)
    of_target, of_source = grad, grad.gather(dim, index)
    if reduce == "prod":
        of_target, of_source = of_product(grad, x, dim, index, source, include_self, result)
    elif reduce == "mean":
        of_target, of_source = of_mean(grad, dim, index, include_self)
    elif reduce == "amax" or reduce == "amin":
        of_target, of_source = of_extreme(grad, x, dim, index, source, result)
    if not include_self:
        of_target = of_target.scatter(dim, index, 0)
    return of_target, pad_to_sizes(of_source, sizes)


derive(
    "aten::scatter_reduce.two",
    {"self, src": "of_reduced(grad, self, dim, index, src, reduce, include_self, result)"},
)

# --------------------------------------------------------------------------- index operators with a 1-d index


def everywhere(index: Tensor, source: Tensor, dim: int) -> Tensor:
    """Expand a 1-d index along `dim` to the shape of a source."""
    if source.dim() == 0:
        return index.reshape(source.size())
    sizes = [1] * source.dim()
    sizes[dim] = -1
    return index.reshape(sizes).expand(source.size())


derive(
    "aten::index_add",
    self="grad",
    source="mul_conj(grad.index_select(dim, index).reshape(source.size()), alpha)",
    result=LINEAR,
)
derive(
    "aten::index_reduce",
    {
        "self, source": "of_reduced(grad, self, dim, everywhere(index, source, dim), source, reduce, "
        "include_self, result)"
    },
)
derive(
    "aten::index_copy",
    self="grad.index_fill(dim, index, 0)",
    source="grad.index_select(dim, index).reshape(source.size())",
    result=LINEAR,
)
derive(
    "aten::index_fill.int_Scalar", self="grad.index_fill(dim, index, 0)",
    result="self_t.index_fill(dim, index, 0)",
)  # fmt: skip
derive(
    "aten::index_fill.int_Tensor", self="grad.index_fill(dim, index, 0)",
    value="grad.index_select(dim, ts._unique(index)[0])", result=LINEAR, name="IndexFillBackward1",
)  # fmt: skip
