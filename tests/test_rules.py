"""Promotion, casts, broadcasting and dimensions, as PyTorch has them."""

import numpy as np
import pytest

from ts import dtypes
from ts.ops import rules


def arrays(dtype):
    return np.ones(3, dtype), np.ones((), dtype)


def test_a_lower_group_lifts_only_the_category():
    vector, scalar = arrays(np.float32)
    assert rules.result_type(vector, np.ones((), np.float64)) == rules.FLOAT
    assert rules.result_type(vector, 1.5) == rules.FLOAT
    assert rules.result_type(np.ones(3, np.int8), 1000) == np.int8
    assert rules.result_type(np.ones(3, np.int64), 1.5) == rules.FLOAT
    assert rules.result_type(np.ones(3, np.float16), 1j) == dtypes.complex32.numpy_dtype
    assert rules.result_type(np.ones(3, np.float64), 1j) == rules.CDOUBLE
    assert rules.result_type(scalar, np.ones(3, np.int64)) == rules.FLOAT
    assert rules.result_type(np.ones(3, bool), 2) == rules.INT64


def test_promotion_is_symmetric_and_keeps_the_category():
    for a in rules.CATEGORY_OF:
        for b in rules.CATEGORY_OF:
            if {a.name, b.name} & {"uint16", "uint32", "uint64"} or dtypes.is_float8(a) or dtypes.is_float8(b):
                continue
            c = rules.promote_types(a, b)
            assert c == rules.promote_types(b, a)
            assert rules.CATEGORY_OF[c] == max(rules.CATEGORY_OF[a], rules.CATEGORY_OF[b])
    assert rules.promote_types(rules.HALF, dtypes.bfloat16.numpy_dtype) == rules.FLOAT


def test_casts_go_up_the_categories():
    assert rules.can_cast(rules.INT64, rules.FLOAT) and rules.can_cast(rules.DOUBLE, rules.HALF)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        rules.check_cast(rules.FLOAT, rules.INT64)
    assert rules.cast(np, 300, rules.UINT8) == 44


def test_dimensions_wrap_or_say_the_range():
    assert rules.wrap_dim(-1, 3) == 2 and rules.wrap_dim(-1, 0) == 0
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        rules.wrap_dim(2, 2)
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times"):
        rules.wrap_dims([0, -2], 2)


def test_shapes_broadcast_or_name_the_dimension():
    assert rules.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    with pytest.raises(
        RuntimeError, match=r"tensor a \(2\) must match .* tensor b \(3\) at non-singleton dimension 1"
    ):
        rules.broadcast_shapes((4, 2), (3,))
    assert rules.infer_size([-1, 2], 6) == (3, 2)
    with pytest.raises(RuntimeError, match=r"shape '\[4\]' is invalid for input of size 6"):
        rules.infer_size([4], 6)
