"""Batching rules of matrix and vector products, each computed by one batched matrix product."""

from __future__ import annotations

from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import Call
from ts._core.tensor.tensor import Tensor
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.rules import pad_rank
from ts.ops.vmap_rules.views import on_last_dims, run_unchanged


def product(call: Call, i: int, j: int) -> Any:
    """Return the matrix product of arguments `i` and `j`. An unbatched operand is not expanded."""
    a, b = call.values[i], call.values[j]
    if call.batch_flags[i] and not call.batch_flags[j] and b.dim() == 2 and a.dim() == 3:
        return (a.reshape(-1, a.shape[2]) @ b).reshape(a.shape[0], a.shape[1], b.shape[1])
    return ts.matmul(a, b)


def _check_dims(call: Call, *expected_ranks: int) -> None:
    """Raise an error unless the first two arguments have the ranks `expected_ranks` (without the batch)."""
    ranks = [
        x.dim() - is_batched for x, is_batched in zip(call.values[:2], call.batch_flags[:2], strict=True)
    ]
    if tuple(ranks) == expected_ranks:
        return
    name = call.record.name.removeprefix("aten::")
    if name in ("dot", "vdot"):
        raise RuntimeError("Got wrong shapes for dot")
    raise RuntimeError(
        f"Shape mismatch: Got incorrect dims for {name}(a, b). a has dim {ranks[0]}and b has dim "
        f"{ranks[1]}but expected them to have dim {expected_ranks[0]} and dim {expected_ranks[1]}"
    )


def _mm(call: Call) -> Any:
    _check_dims(call, 2, 2)
    return product(call, 0, 1)


def _bmm(call: Call) -> Any:
    _check_dims(call, 3, 3)
    return ts.matmul(call.values[0], call.values[1])


def _mv(call: Call) -> Any:
    _check_dims(call, 2, 1)
    a, v = call.values[0], call.values[1]
    if call.batch_flags[1]:
        return ts.matmul(a, v.unsqueeze(2)).squeeze(2)
    return ts.matmul(a, v)


def _dot(call: Call) -> Any:
    _check_dims(call, 1, 1)
    return (call.expanded(0) * call.expanded(1)).sum(1)


def _vdot(call: Call) -> Any:
    _check_dims(call, 1, 1)
    return (call.expanded(0).conj() * call.expanded(1)).sum(1)


def _add_scaled_self(call: Call, matrix_product: Tensor) -> Any:
    """Return beta * self + alpha * `matrix_product`. If beta is 0, `self` is not read."""
    beta, alpha = call["beta"], call["alpha"]
    matrix_product = matrix_product if alpha == 1 else matrix_product * alpha
    if beta == 0:
        return matrix_product
    x = call.values[0]
    if call.batch_flags[0]:
        x = pad_rank(x, matrix_product.dim())
    return matrix_product + (x if beta == 1 else x * beta)


def _addmv(call: Call) -> Any:
    a, v = call.values[1], call.values[2]
    matrix_product = ts.matmul(a, v.unsqueeze(2)).squeeze(2) if call.batch_flags[2] else ts.matmul(a, v)
    return _add_scaled_self(
        call, matrix_product if matrix_product.dim() == 2 else matrix_product.unsqueeze(0)
    )


def _addr(call: Call) -> Any:
    outer_product = call.expanded(1).unsqueeze(2) * call.expanded(2).unsqueeze(1)
    return _add_scaled_self(call, outer_product)


def _with_batch(call: Call, matrix_product: Tensor, rank: int) -> Tensor:
    """Return the product. If it is not batched (has not `rank` dimensions), insert a batch dimension."""
    return matrix_product if matrix_product.dim() == rank else matrix_product.unsqueeze(0)


batch("mm", _mm)
batch("bmm", _bmm)
batch("mv", _mv)
batch("dot", _dot)
batch("vdot", _vdot)
batch("addmm", lambda call: _add_scaled_self(call, _with_batch(call, product(call, 1, 2), 3)))
batch(
    "baddbmm",
    lambda call: _add_scaled_self(call, _with_batch(call, ts.matmul(call.values[1], call.values[2]), 4)),
)
batch(
    "addbmm",
    lambda call: _add_scaled_self(
        call, _with_batch(call, ts.matmul(call.values[1], call.values[2]).sum(-3), 3)
    ),
)
batch("addmv", _addmv)
batch("addr", _addr)
batch(
    "linalg_inv linalg_inv_ex linalg_det slogdet linalg_slogdet _linalg_det _linalg_slogdet "
    "linalg_cholesky cholesky linalg_cholesky_ex linalg_eigh _linalg_eigh linalg_eig linalg_svd "
    "_linalg_svd linalg_qr linalg_matrix_exp linalg_solve_triangular triangular_solve "
    "linalg_pinv linalg_pinv.atol_rtol_float linalg_lu_factor linalg_lu_factor_ex linalg_lu _lu_with_info "
    "linalg_householder_product geqrf",
    on_last_dims(2),
)


def _solve(call: Call) -> Any:
    """Apply the batching rule of `solve`.

    The operator receives 1-d right-hand sides as one-column matrices.
    """
    values = [call.expanded(i) if isinstance(x, Tensor) else x for i, x in enumerate(call.values)]
    a, b = values[0], values[1]
    if b.dim() == a.dim() - 1:
        values[1] = b.unsqueeze(b.dim())
        solution = call.run(values)
        if isinstance(solution, Tensor):
            return solution.squeeze(-1)
        return type(solution)([solution[0].squeeze(-1), *solution[1:]]) if hasattr(solution, "_fields") else (
            solution[0].squeeze(-1), *solution[1:]
        )  # fmt: skip
    return call.run(values)


batch("linalg_solve linalg_solve_ex _linalg_solve_ex", _solve)
batch("cdist _cdist_forward _euclidean_dist", run_unchanged)
