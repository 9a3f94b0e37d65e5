"""Elements may begin at any byte: operators give what they give of the same elements elsewhere.

Processors that are tested on mind little; compilers may, and the sanitizers say where (`make sanitize`).
"""

import numpy as np
import pytest

import ts
from ts._core.tensor.tensor import wrap_array


def displaced(x, by):
    """The same elements, beginning `by` bytes behind a multiple of 64."""
    if isinstance(x, list):
        return [displaced(y, by) for y in x]
    if not isinstance(x, ts.Tensor) or x.requires_grad:
        return x
    array = x.contiguous().array
    room = np.zeros(array.nbytes + 64 + by, np.uint8)
    start = -room.ctypes.data % 64 + by
    made = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape) if array.nbytes else array.copy()
    made[...] = array
    return wrap_array(made)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.int64, ts.int16], ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_numbers_may_begin_anywhere(name, dtype):
    """Tensors without dimensions, as operands of others."""
    usual = ts.tensor(3, dtype=dtype)
    number = displaced(usual, 1)
    for x in ts.arange(6.0), ts.arange(6), ts.arange(6.0, dtype=ts.float64), ts.arange(6.0).half(), ts.arange(6.0).reshape(2, 3).t():
        expected = getattr(x, name)(usual)
        assert getattr(x, name)(number).tolist() == expected.tolist()
        if x.is_floating_point():
            assert getattr(x.clone(), name + "_")(number).tolist() == expected.tolist()


def test_rows_may_begin_anywhere():
    """Two numbers that are moved as one lie where one may."""
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
