"""complex32: elements, views, supported operators and errors."""

import copy
import io
import pickle

import numpy as np
import pytest

import ts

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support")
NUMBERS = np.array([1, 2 + 0.5j, -3.25j, 0.1 + 1000j], np.complex64)


def complex32_numbers():
    return ts.from_numpy(NUMBERS.copy()).to(ts.complex32)


def halves():
    return np.stack([NUMBERS.real, NUMBERS.imag], -1).astype(np.float16)


def test_parts_are_floats_of_16_bits():
    x = complex32_numbers()
    assert x.dtype is ts.complex32 is ts.chalf and x.element_size() == 4 and x.is_complex()
    assert ts.view_as_real(x).numpy().tolist() == halves().tolist()
    assert x.real.numpy().tolist() == halves()[:, 0].tolist() and x.imag.dtype is ts.float16
    assert x.to(ts.complex64).numpy().tolist() == halves().astype(np.float32).view(np.complex64)[:, 0].tolist()


def test_views_share_memory():
    x = complex32_numbers().view(2, 2)
    x.real[0, 0] = 7
    ts.view_as_real(x.t())[1, 0, 1] = 5
    assert x[0, 0].item() == 7 and x[0, 1].item() == 2 + 5j
    pairs = ts.zeros(3, 2, dtype=ts.half)
    ts.view_as_complex(pairs)[1] = 2 + 1j
    assert pairs.tolist() == [[0, 0], [2, 1], [0, 0]]
    assert x.view(ts.int32).view(ts.complex32).tolist() == x.tolist()


@pytest.mark.parametrize("operation", ["add", "sub", "mul"])
def test_arithmetic_rounds_once(operation):
    """Arithmetic equals complex64 arithmetic with one rounding."""
    x, y = complex32_numbers(), complex32_numbers().flip(0)
    wide = getattr(ts, operation)(x.to(ts.complex64), y.to(ts.complex64))
    assert getattr(ts, operation)(x, y).tolist() == wide.to(ts.complex32).tolist()
    written = x.clone()
    assert getattr(written, f"{operation}_")(y) is written and written.tolist() == wide.to(ts.complex32).tolist()


def test_dtypes_of_results():
    x, h = complex32_numbers(), ts.ones(4, dtype=ts.half)
    for y in (x + 1, x * 2.5, x + h, x * 1j, h * 1j, x + ts.tensor(1.0), -x, x.conj(), ts.cat([x, h]), ts.where(x == 1, x, 0)):
        assert y.dtype is ts.complex32
    for y in (x + ts.ones(4), x * ts.ones(4, dtype=ts.bfloat16), x - ts.ones(4, dtype=ts.complex64)):
        assert y.dtype is ts.complex64
    assert x.abs().dtype is ts.half and (x == x).dtype is ts.bool and x.norm().dtype is ts.half
    assert (x + ts.ones(4, dtype=ts.float64)).dtype is ts.complex128 and x.sum(dtype=ts.complex64).dtype is ts.complex64


def test_unsupported_operators():
    x = complex32_numbers()
    calls = [
        lambda: x / 2, lambda: x.sum(), lambda: x**2, lambda: x.exp(), lambda: x.view(2, 2) @ x.view(2, 2),
        lambda: ts.eye(2, dtype=ts.chalf), lambda: x < x, lambda: x.cumsum(0), lambda: ts.arange(3, dtype=ts.chalf),
        lambda: ts.ones(2).sum(dtype=ts.chalf), lambda: ts.ones(2).half() / 1j,
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(NotImplementedError, match="not implemented for 'ComplexHalf'"):
            call()
    with pytest.raises(TypeError, match="Got unsupported ScalarType ComplexHalf"):
        x.numpy()
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type ml_dtypes.complex32"):
        ts.from_numpy(np.zeros(2, ts.complex32.numpy_dtype))


def test_copies():
    x = complex32_numbers()
    stored = io.BytesIO()
    ts.save(x[1:], stored)
    for y in (copy.deepcopy(x)[1:], pickle.loads(pickle.dumps(x[1:])), ts.load(io.BytesIO(stored.getvalue()))):
        assert y.dtype is ts.complex32 and y.tolist() == x.tolist()[1:]
    assert pickle.loads(pickle.dumps(ts.chalf)) is ts.complex32


def doubled(x):
    y = x.to(torch.complex32)
    return torch.cat([y, y * 2]).abs()


@pytest.mark.parametrize("make", [ts.jit.script, lambda f: ts.jit.trace(f, (ts.zeros(2),))], ids=["script", "trace"])
def test_scripts(make):
    doubled.__globals__["torch"] = ts
    f = make(doubled)
    for _ in range(3):
        assert f(ts.tensor([3 + 4j, 1])).tolist() == [5, 1, 10, 2]
