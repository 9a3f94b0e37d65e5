"""`cupy_backends.cuda.libs.cublas`: products of 16-bit matrices, with cuBLAS's memory order and parameter checks.

The parameters are those of CuPy's functions. Matrices are column-major, and are read from addresses.
"""

import types

import ml_dtypes
import numpy as np

from tests.fake_cupy import graph_capture

HANDLE = 0xC0B1A5
OP_N, OP_T = 0, 1
COMPUTE_32F, GEMM_DEFAULT = 68, -1
DTYPES = {0: np.dtype(np.float32), 2: np.dtype(np.float16), 14: np.dtype(ml_dtypes.bfloat16)}  # CUDA_R_32F, _16F, _16BF
calls = []  # name of the function and (m, n, k, number of products) of each call


def _matrix(address, kind, rows, columns, leading):
    """Return the column-major matrix at an address as an array."""
    assert type(leading) is int and leading >= max(1, rows), "the leading dimension is less than the number of rows"
    dtype = DTYPES[kind]
    size = (columns - 1) * leading + rows
    source = types.SimpleNamespace(
        __array_interface__={"shape": (size * dtype.itemsize,), "typestr": "|u1", "data": (address, False), "version": 3}
    )
    flat = np.asarray(source).view(dtype)
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (dtype.itemsize, leading * dtype.itemsize))


@graph_capture.record_calls
def _product(alpha, transa, transb, m, n, k, a, a_kind, lda, b, b_kind, ldb, c, c_kind, ldc):
    shapes = [(k, m) if transa == OP_T else (m, k), (n, k) if transb == OP_T else (k, n)]
    x, y = (_matrix(p, t, *s, ld) for p, t, s, ld in ((a, a_kind, shapes[0], lda), (b, b_kind, shapes[1], ldb)))
    x, y = (z.astype(np.float32).T if op == OP_T else z.astype(np.float32) for z, op in ((x, transa), (y, transb)))
    target = _matrix(c, c_kind, m, n, ldc)
    assert a_kind == b_kind and a_kind and c_kind in (0, a_kind), "cuBLAS does not support these types"
    target[...] = (alpha * (x @ y)).astype(target.dtype)


def _check(handle, transa, transb, m, n, k, alpha, beta, compute, algorithm):
    assert handle == HANDLE and {transa, transb} <= {OP_N, OP_T}
    assert all(type(x) is int and 0 < x < 1 << 31 for x in (m, n, k))
    assert (compute, algorithm) == (COMPUTE_32F, GEMM_DEFAULT), "sums have another dtype than float32"
    numbers = [np.asarray(types.SimpleNamespace(__array_interface__={
        "shape": (), "typestr": "<f4", "data": (x, True), "version": 3})) for x in (alpha, beta)]  # fmt: skip
    assert numbers[1] == 0
    return np.float32(numbers[0])


def gemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, computeType, algo):
    factor = _check(handle, transa, transb, m, n, k, alpha, beta, computeType, algo)
    calls.append(("gemmEx", (m, n, k, 1)))
    _product(factor, transa, transb, m, n, k, A, Atype, lda, B, Btype, ldb, C, Ctype, ldc)


def gemmStridedBatchedEx(
    handle, transa, transb, m, n, k, alpha, A, Atype, lda, strideA, B, Btype, ldb, strideB, beta, C, Ctype, ldc,
    strideC, batchCount, computeType, algo,
):  # fmt: skip
    factor = _check(handle, transa, transb, m, n, k, alpha, beta, computeType, algo)
    calls.append(("gemmStridedBatchedEx", (m, n, k, batchCount)))
    for i in range(batchCount):
        a, b, c = (
            x + i * step * DTYPES[kind].itemsize
            for x, step, kind in ((A, strideA, Atype), (B, strideB, Btype), (C, strideC, Ctype))
        )
        _product(factor, transa, transb, m, n, k, a, Atype, lda, b, Btype, ldb, c, Ctype, ldc)


def modules():
    """Return the modules of cuBLAS by import name."""
    result = {name: types.ModuleType(name) for name in (
        "cupy_backends", "cupy_backends.cuda", "cupy_backends.cuda.libs", "cupy_backends.cuda.libs.cublas")}  # fmt: skip
    names = list(result)
    for parent, child in zip(names, names[1:], strict=False):
        setattr(result[parent], child.rpartition(".")[2], result[child])
    result[names[-1]].__dict__.update(
        gemmEx=gemmEx, gemmStridedBatchedEx=gemmStridedBatchedEx, CUBLAS_OP_N=OP_N, CUBLAS_OP_T=OP_T,
        CUBLAS_COMPUTE_32F=COMPUTE_32F, CUBLAS_GEMM_DEFAULT=GEMM_DEFAULT,
    )  # fmt: skip
    return result
