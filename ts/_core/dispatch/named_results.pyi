# Made from the records of the operators by `python -m tests.regenerate`: change those, or tests/stubs.py.

from typing import NamedTuple

from ts._core.tensor.tensor import Tensor

class _fused_adagrad(NamedTuple):
    self_out: tuple[Tensor, ...]
    grads_out: tuple[Tensor, ...]
    state_sums_out: tuple[Tensor, ...]
    state_steps_out: tuple[Tensor, ...]

class _fused_adam(NamedTuple):
    self_out: tuple[Tensor, ...]
    grads_out: tuple[Tensor, ...]
    exp_avgs_out: tuple[Tensor, ...]
    exp_avg_sqs_out: tuple[Tensor, ...]
    max_exp_avg_sqs_out: tuple[Tensor, ...]

class _fused_adamw(NamedTuple):
    self_out: tuple[Tensor, ...]
    grads_out: tuple[Tensor, ...]
    exp_avgs_out: tuple[Tensor, ...]
    exp_avg_sqs_out: tuple[Tensor, ...]
    max_exp_avg_sqs_out: tuple[Tensor, ...]

class _fused_sgd(NamedTuple):
    self_out: tuple[Tensor, ...]
    grads_out: tuple[Tensor, ...]
    momentum_buffer_list_out: tuple[Tensor, ...]

class _linalg_det(NamedTuple):
    result: Tensor
    LU: Tensor
    pivots: Tensor

class _linalg_eigh(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class _linalg_slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
    LU: Tensor
    pivots: Tensor

class _linalg_solve_ex(NamedTuple):
    result: Tensor
    LU: Tensor
    pivots: Tensor
    info: Tensor

class _linalg_svd(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor

class _lu_with_info(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor

class _unpack_dual(NamedTuple):
    primal: Tensor
    tangent: Tensor

class aminmax(NamedTuple):
    min: Tensor
    max: Tensor

class cummax(NamedTuple):
    values: Tensor
    indices: Tensor

class cummin(NamedTuple):
    values: Tensor
    indices: Tensor

class frexp(NamedTuple):
    mantissa: Tensor
    exponent: Tensor

class geqrf(NamedTuple):
    a: Tensor
    tau: Tensor

class histogram(NamedTuple):
    hist: Tensor
    bin_edges: Tensor

class histogramdd(NamedTuple):
    hist: Tensor
    bin_edges: tuple[Tensor, ...]

class kthvalue(NamedTuple):
    values: Tensor
    indices: Tensor

class linalg_cholesky_ex(NamedTuple):
    L: Tensor
    info: Tensor

class linalg_eig(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class linalg_eigh(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class linalg_inv_ex(NamedTuple):
    inverse: Tensor
    info: Tensor

class linalg_ldl_factor(NamedTuple):
    LD: Tensor
    pivots: Tensor

class linalg_ldl_factor_ex(NamedTuple):
    LD: Tensor
    pivots: Tensor
    info: Tensor

class linalg_lstsq(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor

class linalg_lu(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor

class linalg_lu_factor(NamedTuple):
    LU: Tensor
    pivots: Tensor

class linalg_lu_factor_ex(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor

class linalg_qr(NamedTuple):
    Q: Tensor
    R: Tensor

class linalg_slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor

class linalg_solve_ex(NamedTuple):
    result: Tensor
    info: Tensor

class linalg_svd(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor

class log_sigmoid_forward(NamedTuple):
    output: Tensor
    buffer: Tensor

class lu_unpack(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor

class max(NamedTuple):
    values: Tensor
    indices: Tensor

class median(NamedTuple):
    values: Tensor
    indices: Tensor

class min(NamedTuple):
    values: Tensor
    indices: Tensor

class mode(NamedTuple):
    values: Tensor
    indices: Tensor

class multilabel_margin_loss_forward(NamedTuple):
    output: Tensor
    is_target: Tensor

class nanmedian(NamedTuple):
    values: Tensor
    indices: Tensor

class nll_loss2d_forward(NamedTuple):
    output: Tensor
    total_weight: Tensor

class nll_loss_forward(NamedTuple):
    output: Tensor
    total_weight: Tensor

class qr(NamedTuple):
    Q: Tensor
    R: Tensor

class slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor

class sort(NamedTuple):
    values: Tensor
    indices: Tensor

class svd(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor

class topk(NamedTuple):
    values: Tensor
    indices: Tensor

class triangular_solve(NamedTuple):
    solution: Tensor
    cloned_coefficient: Tensor
