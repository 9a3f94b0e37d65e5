"""Unaligned tensors: operators return the results of aligned tensors.

Common processors tolerate unaligned access, compilers may not; sanitizers report it (`make sanitize`).
"""

import warnings

import numpy as np
import pytest

import ts
from tests import samples
from tests.fuzz import extreme_arguments
from ts._core.tensor.tensor import wrap_array

# Excluded operators: they return uninitialized memory, memory after the tensor, or bytes of rounded numbers,
# require even storage offsets, or read grids of quantized tensors.
EXCLUDED = (
    "aten::empty", "aten::new_empty", "aten::_empty", "aten::resize", "aten::set_", "aten::slice_inverse", "aten::mkldnn_rnn_layer",
    "aten::view_as_complex", "aten::q_", "aten::int_repr", "quantized::",
)  # fmt: skip


def unaligned_copy(x, by):
    """Copy tensors to addresses `by` bytes after a multiple of 64."""
    if isinstance(x, list):
        return [unaligned_copy(y, by) for y in x]
    if not isinstance(x, ts.Tensor) or x.requires_grad:
        return x
    array = x.contiguous().array
    memory = np.zeros(array.nbytes + 64 + by, np.uint8)
    start = -memory.ctypes.data % 64 + by
    array_view = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape) if array.nbytes else array.copy()
    array_view[...] = array
    return wrap_array(array_view)


def called(operator, args):
    """Return the result of a call, or the class of its error."""
    try:
        return operator(*args)
    except extreme_arguments.REJECTION_ERRORS as error:
        return type(error)


def nearly_equal(x, y):
    """Return True if two results are equal up to summation order."""
    if isinstance(x, ts.Tensor):
        if not isinstance(y, ts.Tensor) or x.dtype != y.dtype or x.shape != y.shape:
            return False
        few = 1e-2 if x.dtype in (ts.float16, ts.bfloat16, ts.complex32) else 1e-5
        x, y = (z.detach() if z.layout is ts.strided else z.detach().to_dense() for z in (x, y))
        x, y = (z.to(ts.complex128).contiguous().numpy() for z in (x, y))
        return np.allclose(x, y, rtol=few, atol=few, equal_nan=True)
    if isinstance(x, (list, tuple)):
        return type(x) is type(y) and len(x) == len(y) and all(map(nearly_equal, x, y))
    return type(x) is type(y) and (x == y or x != x)


@pytest.mark.parametrize("dtype", [ts.float16, ts.float32, ts.complex64], ids=str)
@pytest.mark.parametrize("between", ["elements", "bytes"])
def test_tensors_may_begin_anywhere(dtype, between):
    """Operators accept tensors at addresses that are not aligned to their element size."""
    wrong, count = [], 0
    for record in extreme_arguments.records():
        if record.name.startswith(EXCLUDED) or samples.profile(record)[0] < 0:
            continue
        usual, others = samples.arguments(record, dtype), samples.arguments(record, dtype)
        if not any(isinstance(x, (ts.Tensor, list)) for x in usual or ()):
            continue
        by = 1 if between == "bytes" else np.dtype(ts.ones(1, dtype=dtype).array.dtype).alignment
        operator = samples.operator(record)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = called(operator, usual), called(operator, unaligned_copy(others, by))
        count += 1
        if not record.nondeterministic and not nearly_equal(expected, found):
            wrong.append(f"{record.key}: {expected} here, {found} there")
    assert not wrong, "\n".join(wrong)
    assert count > 500


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.int64, ts.int16], ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_numbers_may_begin_anywhere(name, dtype):
    """Zero-dimensional operands may be unaligned."""
    usual = ts.tensor(3, dtype=dtype)
    number = unaligned_copy(usual, 1)
    for x in ts.arange(6.0), ts.arange(6), ts.arange(6.0, dtype=ts.float64), ts.arange(6.0).half(), ts.arange(6.0).reshape(2, 3).t():
        expected = getattr(x, name)(usual)
        assert getattr(x, name)(number).tolist() == expected.tolist()
        if x.is_floating_point():
            assert getattr(x.clone(), name + "_")(number).tolist() == expected.tolist()


def test_rows_may_begin_anywhere():
    """Kernels that move two numbers at once accept rows aligned to one number."""
    x, y = ts.arange(8.0)[1:7].reshape(3, 2), ts.arange(3.0).reshape(3, 1)
    assert ts.cat([y, x], 1).tolist() == [[0, 1, 2], [1, 3, 4], [2, 5, 6]]
    assert ts.cat([y.byte(), x.byte(), x.byte(), x.byte()[:, :1]], 1)[1].tolist() == [1, 3, 4, 3, 4, 3]
    assert x.flip(0).tolist() == [[5, 6], [3, 4], [1, 2]]
    assert x[ts.tensor([2, 0])].tolist() == [[5, 6], [1, 2]]
    z = ts.from_numpy(np.arange(9, dtype=np.float32)[1:].view(np.complex64))
    assert z[ts.tensor([True, False, True, False])].tolist() == [1 + 2j, 5 + 6j]
    assert z.flip(0).tolist() == [7 + 8j, 5 + 6j, 3 + 4j, 1 + 2j]
    assert z.gather(0, ts.tensor([3, 0])).tolist() == [7 + 8j, 1 + 2j]
    assert z[::2].contiguous().tolist() == [1 + 2j, 5 + 6j]
    z[ts.tensor([True, False, False, True])] = 0
    assert z.tolist() == [0, 3 + 4j, 5 + 6j, 0]
    assert z.index_put_([ts.tensor([1])], ts.tensor(2 + 2j)).tolist() == [0, 2 + 2j, 5 + 6j, 0]
