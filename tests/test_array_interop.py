"""Arrays of other libraries as tensors: used without a copy, or rejected with the conversion call in the
error."""

from typing import List, Optional

import numpy as np
import pytest

import ts


@ts.jit.script
def filled(x: ts.Tensor, value: float = 7.0) -> ts.Tensor:
    return x.fill_(value)


@ts.jit.script
def maybe(x: Optional[ts.Tensor], y) -> ts.Tensor:
    return y if x is None else x + y


@ts.jit.script
def numbers(n: int, xs: List[float]) -> float:
    return n + xs[0]


class HasArray:
    """Object with `__array__`."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class DLPackOnly:
    """Object that supports DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_scripted_functions_share_memory_with_ndarrays():
    """Scripted functions accept ndarrays without a copy; writes, views and dtypes are those of the array."""
    array = np.zeros((2, 3))
    result = filled(array)
    assert isinstance(result, ts.Tensor) and result.dtype is ts.float64 and (array == 7).all()
    assert result.data_ptr() == array.ctypes.data
    filled(array[:, 1], value=1.0)
    assert array.tolist() == [[7, 1, 7], [7, 1, 7]]
    assert filled(x=array).tolist() == [[7.0] * 3] * 2


@pytest.mark.parametrize("wrap", [HasArray, DLPackOnly])
def test_array_protocols(wrap):
    array = np.zeros(3, np.float32)
    filled(wrap(array))
    assert array.tolist() == [7, 7, 7]


def test_optional_and_inferred_tensors():
    assert maybe(np.ones(2), ts.ones(2)).tolist() == maybe(ts.ones(2), np.ones(2)).tolist() == [2, 2]
    assert maybe(None, np.ones(2)).tolist() == [1, 1]


def test_methods_of_scripted_modules():
    net = ts.jit.script(ts.nn.Linear(3, 2))
    array = np.ones((1, 3), np.float32)
    assert net(array).tolist() == net(ts.from_numpy(array)).tolist() == net.forward(array).tolist()
    traced = ts.jit.trace(lambda x: x * 2, (ts.ones(2),))
    assert traced(np.ones(2, np.float32)).tolist() == [2, 2]


def test_other_arrays_are_rejected_with_a_conversion_hint():
    for call, message in (
        (lambda: numbers(np.ones(2), [1.0]), "`x.item()` returns the number of an array with one element"),
        (lambda: numbers(3, np.ones((2, 2))), "`x.tolist()` returns a list of its numbers"),
        (lambda: filled(np.ones(2)[::-1]), "`ts.from_numpy(x)` returns a tensor that shares its memory, `ts.tensor(x)` a copy"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="Expected a value of type") as caught:
            call()
        assert str(caught.value).endswith(f"\nHint: {message}")
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor'") as caught:
        filled([1.0])
    assert "Hint" not in str(caught.value)
    with pytest.raises(RuntimeError, match="Expected a value of type 'float' for argument 'value'"):
        filled(np.ones(2), "a")


def test_operator_errors_name_the_conversion():
    """Eager operators reject arrays, as PyTorch does, with the conversion call in the error."""
    with pytest.raises(TypeError, match=r"argument 'other' \(position 2\) must be Tensor, not numpy.ndarray\n\(of numpy.ndarray x, `ts.from_numpy\(x\)` returns a tensor that shares its memory"):
        ts.matmul(ts.ones(2), np.ones(2))
    with pytest.raises(TypeError, match=r"of .*DLPackOnly x, `ts.from_dlpack\(x\)` returns a tensor that shares its memory"):
        ts.mm(DLPackOnly(np.ones((2, 2))), ts.ones(2, 2))
    with pytest.raises(TypeError) as caught:
        ts.matmul(ts.ones(2), "a")
    assert "of " not in str(caught.value).partition("must be")[2]
