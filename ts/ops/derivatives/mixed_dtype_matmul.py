"""Derivatives of matrix products with an output dtype, and of sums of products of three tensors."""

from __future__ import annotations

import ts  # the formulas below contain this name
from ts import Tensor
from ts.ops.derivatives.formula_registry import compose

compose("aten::mm.dtype", "ts.mm(self.to(out_dtype), mat2.to(out_dtype))")
compose("aten::bmm.dtype", "ts.bmm(self.to(out_dtype), mat2.to(out_dtype))")
compose(
    "aten::addmm.dtype",
    "ts.addmm(self.to(out_dtype), mat1.to(out_dtype), mat2.to(out_dtype), beta=beta, alpha=alpha)",
)
compose(
    "aten::baddbmm.dtype",
    "ts.baddbmm(self.to(out_dtype), batch1.to(out_dtype), batch2.to(out_dtype), beta=beta, alpha=alpha)",
)


def grouped_product(self: Tensor, mat2: Tensor, offs: Tensor | None) -> Tensor:
    """Return the grouped matrix product, which consists of one product for each group.

    The offsets in `offs` split a dimension into groups:

    - 2-d @ 3-d: the rows of `self`
    - 3-d @ 2-d: the columns of `mat2`
    - 2-d @ 2-d: the contracted dimension
    """
    if offs is None:
        return ts.bmm(self, mat2)
    offsets: list[int] = offs.tolist()
    products: list[Tensor] = []
    start = 0
    for i, end in enumerate(offsets):
        if self.dim() == 2 and mat2.dim() == 3:
            products.append(self[start:end].mm(mat2[i]))
        elif self.dim() == 3:
            products.append(self[i].mm(mat2[:, start:end]))
        else:
            products.append(self[:, start:end].mm(mat2[start:end]))
        start = end
    if self.dim() == 2 and mat2.dim() == 2:
        return ts.stack(products)
    if self.dim() == 2:
        products.append(self.new_zeros([self.size(0) - start, mat2.size(-1)]))
        return ts.cat(products, 0)
    products.append(self.new_zeros([self.size(-2), mat2.size(1) - start]))
    return ts.cat(products, 1)


def unsqueeze_dims(x: Tensor, new: list[int], rank: int) -> Tensor:
    """Insert dimensions of size 1 into `x`. `new` contains the indices of these dimensions in the result."""
    for d in sorted([d % rank for d in new]):
        x = x.unsqueeze(d)
    return x


def trilinear(
    i1: Tensor, i2: Tensor, i3: Tensor, expand1: list[int], expand2: list[int], expand3: list[int],
    sumdim: list[int],
) -> Tensor:  # fmt: skip
    """Return the sum over `sumdim` of the product of three tensors.

    Before the product, dimensions of size 1 are inserted at `expand1`, `expand2` and `expand3`.
    """
    rank = i1.dim() + len(expand1)
    product = (
        unsqueeze_dims(i1, expand1, rank)
        * unsqueeze_dims(i2, expand2, rank)
        * unsqueeze_dims(i3, expand3, rank)
    )
    return product if len(sumdim) == 0 else product.sum(sumdim)


compose("aten::_grouped_mm", "grouped_product(self, mat2, offs)")
compose("aten::_trilinear", "trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim)")
compose(
    "aten::_compute_linear_combination",
    "coefficients.matmul(input.reshape([input.size(0), -1])).reshape([-1] + input.size()[1:])",
)
