"""NumPy's exceptions are translated to PyTorch's messages; exceptions of kernels pass unchanged."""

import numpy as np
import pytest

from ts._core.dispatch.numpy_error_translation import reworded

MATRIX = np.ones((3, 4))


def assign(target, value):
    target[...] = value


CASES = [
    (
        lambda: MATRIX + np.ones(3),
        RuntimeError,
        r"size of tensor a \(4\) must match .* b \(3\) .* dimension 1$",
    ),
    (lambda: MATRIX + np.ones((2, 1, 3)), RuntimeError, r"a \(4\) must match .* b \(3\) .* dimension 2$"),
    (lambda: assign(MATRIX, np.ones(3)), RuntimeError, r"expanded size of the tensor \(4\) .* size \(3\)"),
    (lambda: assign(np.ones(4), np.ones((3, 4))), RuntimeError, "number of sizes provided"),
    (lambda: MATRIX.sum(5), IndexError, r"expected to be in range of \[-2, 1\], but got 5"),
    (lambda: MATRIX[7], IndexError, "index 7 is out of bounds for dimension 0 with size 3"),
    (lambda: MATRIX[np.array([0.5])], RuntimeError, "Expected dtype int32 or int64 for index"),
    (lambda: MATRIX[np.arange(2), np.arange(3)], IndexError, "indexing tensors could not be broadcast"),
    (lambda: MATRIX.reshape(5, 5), RuntimeError, r"shape '\[5,5\]' is invalid for input of size 12"),
    (lambda: np.zeros(-1), RuntimeError, "negative dimension"),
    (lambda: np.zeros((10**12, 10**12)), RuntimeError, "Storage size calculation overflowed"),
    (lambda: np.zeros(10**15), RuntimeError, "can't allocate memory"),
    (lambda: np.invert(MATRIX), NotImplementedError, '"op_cpu" not implemented'),
    (lambda: np.linalg.inv(np.zeros((2, 2))), RuntimeError, "singular"),
    (lambda: np.zeros(0).max(), IndexError, "Expected reduction dim"),
    (lambda: int(np.float64("nan")), RuntimeError, "without overflow"),
]


@pytest.mark.parametrize("call, kind, text", CASES)
def test_reworded(call, kind, text):
    with pytest.raises(Exception) as caught:
        call()
    result = reworded(caught.value, "aten::op")
    with pytest.raises(kind, match=text):
        raise result


def test_other_errors_pass_unchanged():
    assert reworded(ValueError("margin must be greater than 0"), "aten::op") is None
