"""A program returns equal bits in every run and for every number of threads."""

import os
import subprocess
import sys
from functools import cache

import pytest

from tests.sharding import some

# Sums, softmax, convolutions, products, decompositions, sorts and random numbers, at sizes for which
# libraries use threads. The first argument is passed to `set_num_threads`; 0 skips the call.
PROGRAM = """
import hashlib
import sys
import numpy as np
import ts

F, L = ts.nn.functional, ts.linalg
if int(sys.argv[1]):
    ts.set_num_threads(int(sys.argv[1]))
ts.manual_seed(0)
a, b = ts.randn(300, 200), ts.randn(200, 250)
x = ts.randn(2, 8, 33, 33)
large, wide = ts.randn(512, 700), ts.randn(700, 600)
square, vector, stack = large[:, :512] + 30 * ts.eye(512), ts.randn(700), ts.randn(6, 100, 200)
symmetric = square @ square.T
complex = ts.complex(large, large.flip(0))
sequence = ts.randn(20, 4, 64)
attention, lstm = ts.nn.MultiheadAttention(64, 4), ts.nn.LSTM(64, 128)
parts = {
    "sum": a.sum(), "mean": a.mean(0), "var": a.var(1), "softmax": ts.softmax(a, 1), "cumsum": ts.cumsum(a, 0),
    "logsumexp": ts.logsumexp(a, 0), "pointwise": a.exp().sigmoid() * a, "norm": a.norm(),
    "conv2d": ts.nn.functional.conv2d(x, ts.randn(16, 8, 3, 3), padding=1),
    "layer_norm": ts.nn.functional.layer_norm(a, [200]), "sort": ts.sort(a.flatten())[0], "topk": ts.topk(a, 7)[0],
    "rand": ts.rand(1001), "randn": ts.randn(1001), "randperm": ts.randperm(1000), "poisson": ts.poisson(ts.rand(50) * 30),
    "fft": ts.fft.fft(a).real, "max_pool": ts.nn.functional.max_pool2d(x, 3),
    "index_add": ts.zeros(50, 200).index_add(0, ts.arange(300) % 50, a), "bfloat16": (a.to(ts.bfloat16) * 3).sum().float(),
    "mm": large @ wide, "mm of transposed": wide.T @ large.T, "mm of float64": large.double() @ wide.double(),
    "mm of every second": large[:, ::2] @ wide[::2], "mm with its own": large @ large.T,
    "mm of complex64": complex @ wide.to(ts.complex64), "mm of complex128": complex.to(ts.complex128) @ wide.to(ts.complex128),
    "mm of float16": large.half() @ wide.half(), "mm of bfloat16": large.bfloat16() @ wide.bfloat16(),
    "mm of one row": large[:1] @ wide, "mm of one column": large @ wide[:, :1], "mv": ts.mv(large, vector),
    "mv of transposed": ts.mv(wide.T, vector), "dot": ts.dot(large.flatten(), large.flip(0).flatten()),
    "vecdot": L.vecdot(large, large), "linear": F.linear(large, wide.T, ts.randn(600)),
    "linear of a stack": F.linear(stack, b.t()), "addmm": ts.addmm(ts.randn(600), large, wide, beta=0.5, alpha=2),
    "addmv": ts.addmv(ts.randn(512), large, vector), "addr": ts.addr(large, ts.randn(512), vector),
    "bmm": ts.bmm(stack, stack.mT), "bmm of expanded": ts.bmm(stack, b.expand(6, 200, 250)),
    "baddbmm": ts.baddbmm(ts.randn(6, 1, 100), stack, stack.mT), "addbmm": ts.addbmm(ts.randn(100, 100), stack, stack.mT),
    "matmul of stacks": ts.matmul(stack[:, None], b), "einsum": ts.einsum("bij,bkj,kl->bil", stack, stack, ts.randn(100, 90)),
    "tensordot": ts.tensordot(stack, stack, dims=([0, 2], [0, 2])), "inner": ts.inner(large, large),
    "chain_matmul": L.multi_dot([large, wide, wide.T]), "bilinear": F.bilinear(stack[0], stack[1], ts.randn(5, 200, 200)),
    "matrix_power": L.matrix_power(square / 40, 5), "matrix_exp": L.matrix_exp(square[:90, :90] / 90),
    "kron": ts.kron(a[:20, :20], b[:20, :20]), "cdist": ts.cdist(large, large), "cov": ts.cov(large),
    "corrcoef": ts.corrcoef(large), "conv1d": F.conv1d(stack, ts.randn(50, 100, 3)),
    "conv_transpose2d": F.conv_transpose2d(x, ts.randn(8, 8, 3, 3), stride=2), "attention": attention(sequence, sequence, sequence)[0],
    "scaled_dot_product_attention": F.scaled_dot_product_attention(stack, stack, stack), "lstm": lstm(sequence)[0],
    "det": L.det(square / 30), "slogdet": L.slogdet(square)[1], "inv": L.inv(square), "solve": L.solve(square, large),
    "cholesky": L.cholesky(symmetric), "cholesky_solve": ts.cholesky_solve(large, L.cholesky(symmetric)),
    "triangular": L.solve_triangular(square.triu(), large, upper=True), "lu": L.lu(square)[2], "qr": L.qr(large)[1],
    "svd": L.svd(large, full_matrices=False)[2], "svdvals": L.svdvals(large), "pinv": L.pinv(large),
    "eigh": L.eigh(symmetric)[1], "eigvalsh": L.eigvalsh(symmetric), "eig": ts.view_as_real(L.eig(square[:200, :200])[1]),
    "lstsq": L.lstsq(large.T, wide[:, :5])[0], "matrix_rank": L.matrix_rank(large), "matrix_norm": L.matrix_norm(large, 2),
    "cond": L.cond(square), "ldl_factor": L.ldl_factor(symmetric)[0], "householder": L.householder_product(square, ts.rand(512)),
    "norm of rows": L.norm(large, dim=1), "affine_grid": F.affine_grid(ts.randn(2, 2, 3), [2, 3, 200, 200]),
}
for name, part in parts.items():
    part = part.resolve_conj().float() if part.dtype is ts.bfloat16 else part.resolve_conj()
    print(name, hashlib.sha256(np.ascontiguousarray(part.detach().numpy()).tobytes()).hexdigest())
"""


def run(threads, set_to=0):
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    env = os.environ | dict.fromkeys(names, str(threads))
    command = [sys.executable, "-c", PROGRAM, str(set_to)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


first = cache(run)


@pytest.mark.long
def test_every_run_gives_the_same_bits():
    assert run(4) == first(4)


@pytest.mark.parametrize("threads, set_to", some((4, 0), of=((4, 0), (1, 3), (2, 0), (4, 1))))
def test_threads_do_not_change_bits(threads, set_to):
    assert run(threads, set_to) == first(1)
    assert len(first(1)) > 80
