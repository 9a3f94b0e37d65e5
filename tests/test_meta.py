"""The meta device: results have the CPU's shapes, dtypes and strides.

Every record is called on the meta device in every accepted dtype, with contiguous and
non-contiguous arguments. Records compute meta results without CPU kernels and without memory for
elements.
"""

import tracemalloc

import numpy as np
import pytest

import ts
from tests import samples
from tests.test_operators import DEPENDS, NO_SAMPLES, RECORDS, called, leaves, short
from ts import backends
from ts.ops import shape_functions

SIDE = 8192
# Operators that reject meta tensors although they have a shape rule.
REJECTED_BY_ARGUMENTS = {
    "one_hot",  # needs the number of classes
    "repeat_interleave.Tensor", "repeat_interleave.self_Tensor",  # need `output_size`
    "cpu", "_to_cpu",  # would copy elements
}  # fmt: skip
# Operators that return Python numbers, which depend on elements.
NUMBERS = {
    *"item equal allclose IntImplicit FloatImplicit ScalarImplicit ComplexImplicit".split(),
    *"Int.Tensor Float.Tensor Bool.Tensor _local_scalar_dense".split(),
    "_linalg_check_errors",  # raises an error depending on elements
}


def reorder_strides(x):
    """Copy tensors to strides with the first dimension innermost."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(reorder_strides, x))
    return x.transpose(0, -1).contiguous().transpose(0, -1) if isinstance(x, ts.Tensor) and x.ndim > 1 else x


def describe_tensors(x):
    """Return shape, dtype and strides of the tensors, without the strides of dimensions of size 1."""
    return [
        (tuple(t.shape), t.dtype, [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1] if t.numel() else [])
        for t in leaves(x)
    ]


@pytest.fixture
def forbid_cpu_kernels(monkeypatch):
    """Return a function that makes requests for CPU kernels fail."""

    def refused(self, record):
        raise AssertionError(f"{record.key} asked for a kernel of the CPU")

    return lambda: monkeypatch.setattr(type(backends.get("cpu")), "bind", refused)


def test_every_record(forbid_cpu_kernels):
    mismatches = []
    for record in RECORDS:
        if short(record) in NO_SAMPLES or short(record) in DEPENDS:
            continue
        for dtype in samples.DTYPES:
            for order in (lambda x: x, reorder_strides):
                host = samples.arguments(record, dtype)
                if host is None or not any(leaves(a) for a in host):
                    continue
                try:
                    result = called(record, [order(a) for a in host])
                except samples.REJECTION_ERRORS:
                    continue
                on_meta = [order(a) for a in samples.arguments(record, dtype, "meta")]
                if leaves(result):
                    mismatches.append((record, dtype, order, on_meta, describe_tensors(result)))
    assert len(mismatches) > 10_000
    forbid_cpu_kernels()
    for record, dtype, order, on_meta, expected in mismatches:
        where = f"{short(record)} of {dtype}{'' if order is not reorder_strides else ', turned'}"
        try:
            got = called(record, on_meta)
        except Exception as error:
            raise AssertionError(where) from error
        assert describe_tensors(got) == expected, where


def test_data_dependent_shapes_raise():
    """Data-dependent shapes raise PyTorch's error exactly where a rule declares them."""
    refused = {short(r) for r in RECORDS if isinstance(r.shape, shape_functions.DataDependentShapeError)}
    assert {name for name in refused if name not in NUMBERS} == DEPENDS - REJECTED_BY_ARGUMENTS
    assert refused > NUMBERS


def meta(*shape, dtype=ts.float32):
    return ts.empty(shape, dtype=dtype, device="meta")


LARGE = {
    "pad": (lambda x: ts.nn.functional.pad(x, [1, 2, 3, 4]), (SIDE + 7, SIDE + 3)),
    "gather": (lambda x: x.gather(1, meta(SIDE, 5, dtype=ts.int64)), (SIDE, 5)),
    "hstack": (lambda x: ts.hstack([x, x]), (SIDE, 2 * SIDE)),
    "fft": (lambda x: ts.fft.fft(x), (SIDE, SIDE)),
    "diag": (lambda x: ts.diag(x), (SIDE,)),
    "svd": (lambda x: ts.linalg.svd(x)[1], (SIDE,)),
    "lu": (lambda x: ts.linalg.lu(x)[2], (SIDE, SIDE)),
    "index": (lambda x: x[meta(7, dtype=ts.int64)], (7, SIDE)),
    "sort": (lambda x: x.sort(0)[1], (SIDE, SIDE)),
    "combinations": (lambda x: ts.combinations(x[0]), (SIDE * (SIDE - 1) // 2, 2)),
    "pdist": (lambda x: ts.pdist(x), (SIDE * (SIDE - 1) // 2,)),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_tensors_take_no_memory(name):
    """Meta operators with large sizes allocate no memory."""
    compute, shape = LARGE[name]
    compute(meta(SIDE, 9))  # imports modules on first use
    x = meta(SIDE, SIDE)
    tracemalloc.start()
    try:
        result = compute(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert tuple(result.shape) == shape and peak < 1 << 20


def test_errors_equal_the_cpu():
    """Invalid shapes and dtypes raise the CPU's errors on the meta device."""
    calls = [
        lambda d: ts.linalg.svd(ts.ones(3, device=d)),
        lambda d: ts.linalg.inv(ts.ones(2, 3, device=d)),
        lambda d: ts.linalg.lu(ts.ones(3, device=d)),
        lambda d: ts.ones(3, device=d) + ts.ones(4, device=d),
        lambda d: ts.ones(3, 4, device=d) @ ts.ones(3, 4, device=d),
        lambda d: ts.cat([ts.ones(3, 4, device=d), ts.ones(4, 3, device=d)]),
        lambda d: ts.ones(3, device=d).view(4),
        lambda d: ts.ones(2, 3, device=d).t().view(6),
        lambda d: ts.histc(ts.ones(3, device=d), 0),
        lambda d: ts.orgqr(ts.ones(3, 3, device=d), ts.ones(3, 3, device=d)),
        lambda d: ts.ones(3, device=d)[5],
        lambda d: ts.ones(3, device=d).gather(0, ts.ones(2, 2, dtype=ts.int64, device=d)),
    ]
    for call in calls:
        results = []
        for device in ("cpu", "meta"):
            with pytest.raises((RuntimeError, IndexError)) as error:
                call(device)
            results.append((type(error.value), str(error.value)))
        assert results[0] == results[1]


def test_elements_are_rejected():
    x = meta(3, 3)
    for ask in (lambda: x.sum().item(), lambda: bool(x[0, 0] > 1), lambda: ts.allclose(x, x), lambda: x.narrow(0, x[0, 0].long(), 1)):
        with pytest.raises(RuntimeError, match=r"Tensor.item\(\) cannot be called on meta tensors"):
            ask()
    for ask in (x.tolist, x.cpu):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            ask()
    with pytest.raises(RuntimeError, match="cannot repeat_interleave a meta tensor without output_size"):
        x.repeat_interleave(meta(3, dtype=ts.int64), 0)
    assert x.repeat_interleave(meta(3, dtype=ts.int64), 0, output_size=7).shape == (7, 3)
    assert np.prod(ts.nn.functional.one_hot(meta(4, dtype=ts.int64), 5).shape) == 20
