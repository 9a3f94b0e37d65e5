"""Derivatives of products of vectors and matrices.

The derivatives of `linear`, `matmul`, `inner`, `tensordot`, matrix chains and powers use decompositions into
other products. The gradient of an operand of `einsum` is an `einsum` of the result's gradient and the other
operands.

For example, `einsum("ij,jk->k", [a, b])` has the gradient `einsum("k,jk,i->ij", [grad, b, ones])` of a. The
operand of ones is needed because i occurs only in a.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.common import mul_conj
from ts.ops.derivatives.formula_registry import compose, derive

# ---------------------------------------------------------------------------------------- two matrices
#
# The gradient of a column-major matrix is column-major. Therefore, `weight.grad` is row-major if a formula
# uses `weight.t()`.


def _by_columns(sizes: list[int], strides: list[int]) -> bool:
    return strides[0] == 1 and strides[1] == sizes[0]


def of_first(grad: Tensor, mat2: Tensor, sizes: list[int], strides: list[int]) -> Tensor:
    """Return the gradient of a matrix product's first factor."""
    if _by_columns(sizes, strides):
        return mat2.conj().mm(grad.t()).t()
    return grad.mm(mat2.t().conj())


def of_second(grad: Tensor, mat1: Tensor, sizes: list[int], strides: list[int]) -> Tensor:
    """Return the gradient of a matrix product's second factor."""
    if _by_columns(sizes, strides):
        return grad.t().mm(mat1.conj()).t()
    return mat1.t().conj().mm(grad)


derive(
    "aten::mm", self="of_first(grad, mat2, self.size(), self.stride())",
    mat2="of_second(grad, self, mat2.size(), mat2.stride())",
    result="self_t.mm(mat2) + self.mm(mat2_t)",
)  # fmt: skip
derive(
    "aten::bmm", self="grad.bmm(mat2.transpose(1, 2).conj())", mat2="self.transpose(1, 2).conj().bmm(grad)",
    result="self_t.bmm(mat2) + self.bmm(mat2_t)",
)  # fmt: skip
derive(
    "aten::mv", self="grad.outer(vec.conj())", vec="self.t().conj().mv(grad)",
    result="self_t.mv(vec) + self.mv(vec_t)",
)  # fmt: skip
derive(
    "aten::dot", self="grad * tensor.conj()", tensor="grad * self.conj()",
    result="self_t.dot(tensor) + self.dot(tensor_t)",
)  # fmt: skip
derive(
    "aten::vdot", self="grad.conj() * other", other="grad * self",
    result="ts.vdot(self_t, other) + ts.vdot(self, other_t)",
)  # fmt: skip
compose("aten::linalg_vecdot", "(x.conj() * y).sum(dim)")
compose("aten::outer", "self.reshape([self.size(0), 1]) * vec2")


# ----------------------------------------------------------------------------- sums of a tensor and a product

derive(
    "aten::addmm",
    self="mul_conj(grad, beta)", mat1="mul_conj(of_first(grad, mat2, mat1.size(), mat1.stride()), alpha)",
    mat2="mul_conj(of_second(grad, mat1, mat2.size(), mat2.stride()), alpha)",
    result="self_t * beta + (mat1_t.mm(mat2) + mat1.mm(mat2_t)) * alpha",
)  # fmt: skip
derive(
    "aten::addmv",
    self="mul_conj(grad, beta)", mat="mul_conj(grad.outer(vec.conj()), alpha)",
    vec="mul_conj(mat.t().conj().mv(grad), alpha)",
    result="self_t * beta + (mat_t.mv(vec) + mat.mv(vec_t)) * alpha",
)  # fmt: skip
derive(
    "aten::addr",
    self="mul_conj(grad, beta)", vec1="mul_conj(grad.mv(vec2.conj()), alpha)",
    vec2="mul_conj(grad.t().mv(vec1.conj()), alpha)",
    result="self_t * beta + (vec1_t.outer(vec2) + vec1.outer(vec2_t)) * alpha",
)  # fmt: skip
derive(
    "aten::baddbmm",
    self="mul_conj(grad, beta)", batch1="mul_conj(grad.bmm(batch2.transpose(1, 2).conj()), alpha)",
    batch2="mul_conj(batch1.transpose(1, 2).conj().bmm(grad), alpha)",
    result="self_t * beta + (batch1_t.bmm(batch2) + batch1.bmm(batch2_t)) * alpha",
)  # fmt: skip
derive(
    "aten::addbmm",
    self="mul_conj(grad, beta)", batch1="mul_conj(grad.matmul(batch2.transpose(1, 2).conj()), alpha)",
    batch2="mul_conj(batch1.transpose(1, 2).conj().matmul(grad), alpha)",
    result="self_t * beta + (batch1_t.bmm(batch2) + batch1.bmm(batch2_t)).sum(0) * alpha",
)  # fmt: skip


# ----------------------------------------------------------------------------- operators composed of products


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if weight.dim() == 2 and bias is not None and input.dim() == 2:
        return ts.addmm(bias, input, weight.t())
    result = _matmul(input, weight.t())
    return result if bias is None else result + bias


def _flattened_matmul(self: Tensor, other: Tensor) -> Tensor:
    """Return the product of stacked matrices and one vector or matrix, computed as a single product."""
    rows = self.flatten(0, -2)
    if other.dim() == 1:
        return rows.mv(other).view(self.shape[:-1])
    return rows.mm(other).view(self.shape[:-1] + [other.size(1)])


def _matmul(self: Tensor, other: Tensor) -> Tensor:
    """Return the matrix product.

    If one operand has no batch dimensions, the product is computed as a single `mm`.
    """
    if self.dim() <= 2 and other.dim() <= 2:
        if self.dim() == 2:
            return self.mm(other) if other.dim() == 2 else self.mv(other)
        return self.dot(other) if other.dim() == 1 else self.unsqueeze(0).mm(other).squeeze(0)
    if other.dim() <= 2:
        return _flattened_matmul(self, other)
    if self.dim() <= 2:  # self @ other is the transpose of other.T @ self.T
        turned = _flattened_matmul(other.transpose(-1, -2), self if self.dim() == 1 else self.t())
        return turned if self.dim() == 1 else turned.transpose(-1, -2)
    first, second, third = self.size(-2), self.size(-1), other.size(-1)
    batch = ts.broadcast_shapes(self.shape[:-2], other.shape[:-2])
    count = 1
    for n in batch:
        count *= n
    left = self.expand(batch + [first, second]).reshape(count, first, second)
    right = other.expand(batch + [second, third]).reshape(count, second, third)
    return left.bmm(right).view(batch + [first, third])


def _inner(self: Tensor, other: Tensor) -> Tensor:
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    return ts.tensordot(self, other, [[-1], [-1]])


def _remaining_dims(rank: int, dims: list[int]) -> list[int]:
    remaining: list[int] = []
    for d in range(rank):
        if d not in dims:
            remaining.append(d)
    return remaining


def _tensordot(self: Tensor, other: Tensor, dims_self: list[int], dims_other: list[int]) -> Tensor:
    first = [d % self.dim() for d in dims_self]
    second = [d % other.dim() for d in dims_other]
    x, y = self, other
    inside, rows, columns = 1, 1, 1
    # If a contracted dimension has size 1 in one operand only, sum the other operand along this dimension.
    for i, j in zip(first, second):
        if x.size(i) != y.size(j):
            x = x.sum(i, True) if y.size(j) == 1 else x
            y = y.sum(j, True) if x.size(i) == 1 else y
        inside *= x.size(i)
    left, right = _remaining_dims(self.dim(), first), _remaining_dims(other.dim(), second)
    for d in left:
        rows *= x.size(d)
    for d in right:
        columns *= y.size(d)
    x = x.permute(left + dims_self).reshape(rows, inside)
    y = y.permute(dims_other + right).reshape(inside, columns)
    return x.mm(y).view([self.size(d) for d in left] + [other.size(d) for d in right])


def _cross(self: Tensor, other: Tensor, dim: int | None) -> Tensor:
    if dim is None:
        sizes = ts.broadcast_shapes(self.shape, other.shape)
        dim = sizes.index(3)
    return ts.linalg.cross(self, other, dim=dim)


def _chain(matrices: list[Tensor]) -> Tensor:
    result = matrices[0]
    for matrix in matrices[1:]:
        result = _matmul(result, matrix)
    return result


def _power(self: Tensor, n: int) -> Tensor:
    if self.dim() < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if self.size(-1) != self.size(-2):
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{self.size(-2)} by {self.size(-1)} matrices"
        )
    square = ts.linalg.inv(self) if n < 0 else self
    n = abs(n)
    result = square
    started = False
    while n > 0:
        if n % 2 == 1:
            result = result.matmul(square) if started else square
            started = True
        n = n // 2
        if n > 0:
            square = square.matmul(square)
    return result if started else ts.eye(self.size(-1), dtype=self.dtype, device=self.device).expand_as(self)


compose("aten::linear", "_linear(input, weight, bias)")
compose("aten::matmul", "_matmul(self, other)")
compose("aten::bilinear", "_bilinear(input1, input2, weight, bias)")
compose("aten::inner", "_inner(self, other)")
compose("aten::tensordot", "_tensordot(self, other, dims_self, dims_other)")
compose("aten::cross", "_cross(self, other, dim)")
derive(
    "aten::linalg_cross",
    self="ts.linalg.cross(other.conj(), grad, dim=dim)", other="ts.linalg.cross(grad, self.conj(), dim=dim)",
    result="ts.linalg.cross(self_t, other, dim=dim) + ts.linalg.cross(self, other_t, dim=dim)",
)  # fmt: skip
compose("aten::linalg_multi_dot", "_chain(tensors)")
compose("aten::chain_matmul", "_chain(matrices)")
compose("aten::linalg_matrix_power", "_power(self, n)")


def _bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    outputs, first, second = weight.shape
    rows = input1.reshape(-1, first).mm(weight.transpose(0, 1).reshape(first, outputs * second))
    result = rows.view(-1, outputs, second).bmm(input2.reshape(-1, second, 1))
    result = result.view(input1.shape[:-1] + [outputs])
    return result if bias is None else result + bias


# ---------------------------------------------------------------------------------------- einsum


def _spelled(equation: str, tensors: list[Tensor]) -> list[str]:
    """Split an einsum equation: return the subscripts of each operand and of the result, and unused letters.

    In the subscripts, letters replace ellipses. For example, `"...i,i"` for a matrix and a vector gives
    ["zi", "i", "z", "ABC..."].
    """
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    left, right = equation.replace(" ", ""), ""
    arrow = left.find("->")
    if arrow >= 0:
        left, right = left[:arrow], left[arrow + 2 :]
    free, once = "", "..."
    for c in letters:
        if equation.find(c) < 0:
            free += c
        elif left.count(c) == 1:
            once += c
    longest = 0
    subscripts: list[str] = []
    for operand_subscripts, x in zip(left.split(","), tensors):
        more = x.dim() - len(operand_subscripts) + 3 if operand_subscripts.find("...") >= 0 else 0
        longest = max(longest, more)
        subscripts.append(operand_subscripts.replace("...", free[len(free) - more :]))
    result = right if arrow >= 0 else once
    subscripts.append(result.replace("...", free[len(free) - longest :]))
    subscripts.append(free[: len(free) - longest])
    return subscripts


def _einsum(grad: Tensor, equation: str, tensors: list[Tensor]) -> list[Tensor]:
    spelled = _spelled(equation, tensors)
    count = len(tensors)
    gradients: list[Tensor] = []
    for i in range(count):
        terms, factors = [spelled[count]], [grad]
        for j in range(count):
            if j != i:
                terms.append(spelled[j])
                factors.append(tensors[j].conj())
        joined, output_letters, free = ",".join(terms), "", spelled[count + 1]
        for d, c in enumerate(spelled[i]):
            n = tensors[i].size(d)
            if output_letters.find(c) >= 0:  # `c` is a repeated subscript, which selects a diagonal
                terms.append(c + free[0])
                factors.append(ts.eye(n, dtype=grad.dtype, device=grad.device))
                output_letters, free = output_letters + free[0], free[1:]
            else:
                output_letters += c
                if joined.find(c) < 0:
                    terms.append(c)
                    factors.append(ts.ones([n], dtype=grad.dtype, device=grad.device))
        gradients.append(ts.einsum(",".join(terms) + "->" + output_letters, factors))
    return gradients


derive("aten::einsum", tensors="_einsum(grad, equation, tensors)")
