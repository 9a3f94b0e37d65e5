"""Promotion, casts, broadcasting and dimensions equal PyTorch's."""

import numpy as np
import pytest

from ts import dtypes
from ts.ops import common


def arrays(dtype):
    return np.ones(3, dtype), np.ones((), dtype)


def test_lower_priority_operands_raise_only_the_category():
    vector, scalar = arrays(np.float32)
    assert common.result_type(vector, np.ones((), np.float64)) == common.FLOAT
    assert common.result_type(vector, 1.5) == common.FLOAT
    assert common.result_type(np.ones(3, np.int8), 1000) == np.int8
    assert common.result_type(np.ones(3, np.int64), 1.5) == common.FLOAT
    assert common.result_type(np.ones(3, np.float16), 1j) == dtypes.complex32.numpy_dtype
    assert common.result_type(np.ones(3, np.float64), 1j) == common.CDOUBLE
    assert common.result_type(scalar, np.ones(3, np.int64)) == common.FLOAT
    assert common.result_type(np.ones(3, bool), 2) == common.INT64


def test_promotion_is_symmetric_and_keeps_the_category():
    for a in common.CATEGORY_OF:
        for b in common.CATEGORY_OF:
            kernel_sets = [dtypes.from_numpy_dtype(d).kernel_set for d in (a, b)]
            if {dtypes.BAREBONES, dtypes.NARROW} & set(kernel_sets):
                continue
            c = common.promote_types(a, b)
            assert c == common.promote_types(b, a)
            assert common.CATEGORY_OF[c] == max(common.CATEGORY_OF[a], common.CATEGORY_OF[b])
    assert common.promote_types(common.HALF, dtypes.bfloat16.numpy_dtype) == common.FLOAT


def test_casts_follow_the_category_order():
    assert common.can_cast(common.INT64, common.FLOAT) and common.can_cast(common.DOUBLE, common.HALF)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        common.check_cast(common.FLOAT, common.INT64)
    assert common.cast(np, 300, common.UINT8) == 44


def test_dimensions_wrap_or_raise():
    assert common.wrap_dim(-1, 3) == 2 and common.wrap_dim(-1, 0) == 0
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        common.wrap_dim(2, 2)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times"):
        common.wrap_dims([0, -2], 2)


def test_shapes_broadcast_or_raise():
    assert common.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    with pytest.raises(
        RuntimeError, match=r"tensor a \(2\) must match .* tensor b \(3\) at non-singleton dimension 1"
    ):
        common.broadcast_shapes((4, 2), (3,))
    assert common.infer_size([-1, 2], 6) == (3, 2)
    with pytest.raises(RuntimeError, match=r"shape '\[4\]' is invalid for input of size 6"):
        common.infer_size([4], 6)
