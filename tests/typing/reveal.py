"""Expressions with the types that checkers infer; `tests/test_stubs.py` checks the types of the values."""

from typing_extensions import assert_type

import ts
import ts.nn.functional as F
from ts import nn

x = ts.ones(2, 3)
assert_type(x, ts.Tensor)
assert_type(x.shape, ts.Size)
assert_type(x.size(0), int)
assert_type(x.size(), ts.Size)
assert_type(x.dtype, ts.dtype)
assert_type(x.device, ts.device)
assert_type(x.numel(), int)
assert_type(x.is_contiguous(), bool)
assert_type(x.type(), str)
assert_type(x.type(ts.float64), ts.Tensor)
assert_type(x.to("cpu"), ts.Tensor)
assert_type(x.int(), ts.Tensor)
assert_type(x.bool(), ts.Tensor)
assert_type(x + 1, ts.Tensor)
assert_type(1 + x, ts.Tensor)
assert_type(x > 0, ts.Tensor)
assert_type(x == x, ts.Tensor)
assert_type(x[0], ts.Tensor)
assert_type(x.sum(), ts.Tensor)
assert_type(x.max(1).values, ts.Tensor)
assert_type(x.sort().indices, ts.Tensor)
assert_type(x.equal(x), bool)
assert_type(ts.softmax(x, 1), ts.Tensor)
assert_type(ts.split(x, 1), tuple[ts.Tensor, ...])
assert_type(ts.result_type(x, x), ts.dtype)
assert_type(ts.allclose(x, x), bool)
assert_type(ts.get_default_dtype(), ts.dtype)
assert_type(ts.float32, ts.dtype)
assert_type(ts.linalg.svd(x).S, ts.Tensor)
assert_type(ts.fft.fft(x), ts.Tensor)
assert_type(F.relu(x), ts.Tensor)
assert_type(F.linear(x, x), ts.Tensor)
assert_type(F.max_pool2d(x[None], 2, return_indices=True), tuple[ts.Tensor, ts.Tensor])
assert_type(nn.Linear(3, 4)(x), ts.Tensor)
assert_type(nn.Linear(3, 4).weight, ts.Tensor)
assert_type(nn.Linear(3, 4).to(ts.float64), nn.Linear)
assert_type(nn.LSTM(3, 4)(x), tuple[ts.Tensor, tuple[ts.Tensor, ts.Tensor]])


@ts.jit.script
def doubled(t: ts.Tensor) -> ts.Tensor:
    return t * 2


assert_type(doubled(x), ts.Tensor)
assert_type(doubled.code, str)
