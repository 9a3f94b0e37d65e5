"""Accepted, rejected and deprecated arguments of functions: `out` of factories, sizes, index lists,
arrays."""

import importlib.util
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import ts


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda out: ts.zeros(2, out=out), [0, 0]),
        (lambda out: ts.ones((2,), out=out), [1, 1]),
        (lambda out: ts.full((2,), 7, out=out), [7, 7]),
        (lambda out: ts.arange(3, out=out), [0, 1, 2]),
        (lambda out: ts.arange(1, 6, 2, out=out), [1, 3, 5]),
        (lambda out: ts.range(1, 3, out=out), [1, 2, 3]),
        (lambda out: ts.linspace(0, 4, 3, out=out), [0, 2, 4]),
        (lambda out: ts.logspace(0, 2, 3, out=out), [1, 10, 100]),
        (lambda out: ts.eye(2, out=out), [[1, 0], [0, 1]]),
        (lambda out: ts.eye(1, 2, out=out), [[1, 0]]),
    ],
)
@pytest.mark.parametrize("dtype", [ts.float64, ts.int32])
def test_factories_with_out(make, expected, dtype):
    """Factories resize `out`, keep its dtype and return it."""
    out = ts.empty(0, dtype=dtype)
    assert make(out) is out and out.dtype is dtype and out.tolist() == expected


def test_size_operations_return_sizes():
    """Concatenation and repetition of `ts.Size` return `ts.Size`."""
    size = ts.ones(2, 3).shape
    for result in (size * 2, 2 * size, (1, *size)[:0] + size, (1,) + size, size + (1,)):
        assert type(result) is ts.Size
    assert (1,) + size == (1, 2, 3) and size * 2 == (2, 3, 2, 3)
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        size + [1]


def test_einsum_of_subscript_lists():
    """In the sublist format of `einsum`, integers represent subscript letters."""
    a, b = ts.arange(6.0).view(2, 3), ts.arange(6.0).view(3, 2)
    assert ts.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == (a @ b).tolist()
    assert ts.einsum(a, [..., 5]).tolist() == a.tolist()
    assert ts.einsum(a, [0, 1], []).item() == 15
    with pytest.raises(ValueError, match="not within the valid range"):
        ts.einsum(a, [0, 52])


def test_functions_of_any_number_of_operands():
    """`block_diag` and `chain_matmul` accept any number of operands."""
    assert ts.block_diag().shape == (1, 0)
    with pytest.warns(UserWarning, match="chain_matmul is deprecated"):
        assert ts.chain_matmul(ts.ones(2, 3), ts.ones(3, 4), ts.ones(4, 1)).tolist() == [[12], [12]]


def test_arrays_are_compared_by_elements():
    """Comparisons with arrays are elementwise in both orders; other objects are unequal."""
    x, a = ts.ones(2), np.array([1.0, 5.0])
    assert (x == a).tolist() == (a == x).tolist() == [True, False]
    assert (x != a).tolist() == [False, True]
    assert (x == np.array(1)).tolist() == [True, True]
    assert (x == np.array(["a", "b"])) is False
    assert (a / ts.tensor([2.0, 2.0])).tolist() == [0.5, 2.5]


def test_state_dict_is_an_ordered_dict():
    """`state_dict` returns an OrderedDict with version metadata."""
    state = ts.nn.Linear(1, 1).state_dict()
    assert type(state) is OrderedDict and state._metadata[""] == {"version": 1}


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: ts.searchsorted(ts.ones(2, 3), ts.ones(3, 2)), RuntimeError, "first N-1 dimensions"),
        (lambda: ts.tensor_split(ts.ones(3), ts.tensor([1.0])), RuntimeError, "dtype of long, but got Float"),
        (lambda: ts.nn.GRUCell(2, 3)(ts.ones(1, 4)), RuntimeError, "input_size: got 4 expected 2"),
        (lambda: ts.nn.LSTMCell(2, 3)(ts.ones(1, 4)), RuntimeError, "input_size: got 4 expected 2"),
        (lambda: ts.nn.LSTM(2, 3)(ts.ones(0, 1, 2)), RuntimeError, "sequence length to be larger than 0"),
        (lambda: ts.cholesky_solve(ts.ones(3, 2), ts.ones(2, 2)), RuntimeError, "Incompatible matrix sizes"),
        (lambda: ts.argmax(ts.tensor([])), IndexError, "Expected reduction dim"),
        (lambda: ts.histc(ts.tensor([float("nan")])), RuntimeError, "range of \\[nan, nan\\] is not finite"),
        (lambda: ts.fft.fft(ts.tensor([])), RuntimeError, "Invalid number of data points"),
        (lambda: ts.diff(ts.ones(3), n=-1), RuntimeError, "order must be non-negative"),
        (lambda: ts.numel(3), TypeError, "must be Tensor, not int"),
        (lambda: ts.is_complex(1j), TypeError, "must be Tensor, not complex"),
    ],
)
def test_rejected(call, kind, message):
    """Invalid calls raise PyTorch's error class and message."""
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_without_cupy_an_assertion_fails():
    """Without CuPy, creating a CUDA tensor raises an error that is an AssertionError, as in PyTorch without
    CUDA, and a RuntimeError."""
    for kind in (AssertionError, RuntimeError):
        with pytest.raises(kind, match="needs CuPy"):
            ts.ones(1, device="cuda")


F = ts.nn.functional


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: F.mse_loss(ts.ones(2), ts.ones(2, 1)), "Using a target size"),
        (lambda: F.softmax(ts.ones(2)), "Implicit dimension choice for softmax"),
        (lambda: ts.ones(1).std(), r"std\(\): degrees of freedom is <= 0"),
        (lambda: ts.var_mean(ts.ones(2, 1), 1), r"var_mean\(\): degrees of freedom is <= 0"),
        (lambda: ts.meshgrid(ts.ones(2)), "indexing argument"),
        (lambda: F.kl_div(ts.ones(2), ts.ones(2)), "'batchmean'"),
        (lambda: F.conv1d(ts.ones(1, 1, 5), ts.ones(1, 1, 2), padding="same"), "even kernel lengths"),
    ],
)
def test_warnings(call, message):
    """Warnings have the location of the calling line."""
    with pytest.warns(UserWarning, match=message) as seen:
        call()
    assert [w.filename for w in seen] == [__file__]


def test_correct_uses_do_not_warn():
    """Correct uses of the functions issue no warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = ts.rand(2, 3)
        F.mse_loss(x, x), F.softmax(x, 1), x.std(), ts.meshgrid(ts.ones(2), indexing="ij")
        F.kl_div(x, x, reduction="batchmean")
        F.conv1d(ts.ones(1, 1, 5), ts.ones(1, 1, 3), padding="same")


def test_a_buffer_is_a_marked_tensor():
    """`ts.nn.Buffer` returns a marked Tensor, which `isinstance` and modules recognize."""
    b = ts.nn.Buffer(ts.ones(2), persistent=False)
    assert type(b) is ts.Tensor and isinstance(b, ts.nn.Buffer) and not isinstance(ts.ones(2), ts.nn.Buffer)
    m = ts.nn.Module()
    m.a, m.b = ts.nn.Buffer(ts.zeros(1)), b
    assert list(m.state_dict()) == ["a"] and [n for n, _ in m.named_buffers()] == ["a", "b"]
