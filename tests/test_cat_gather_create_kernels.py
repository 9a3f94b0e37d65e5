"""C kernels for concatenation, indexing and creation equal results computed by hand."""

import math
import subprocess
import sys

import numpy as np
import pytest

import ts
from tests.fuzz.subprocess_watchdog import TIMEOUT_FACTOR


def test_concatenation():
    x, y = ts.tensor([[1, 2], [3, 4]]), ts.tensor([[5], [6]])
    assert ts.cat([x, y], 1).tolist() == [[1, 2, 5], [3, 4, 6]]
    assert ts.cat([x, y.t()]).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert ts.stack([x[0], x[1]], 1).tolist() == [[1, 3], [2, 4]]
    assert ts.cat([x, ts.tensor([0.5, 0.5]).reshape(1, 2)]).dtype is ts.float32


def test_rows_by_index():
    x = ts.arange(12).reshape(3, 4)
    assert ts.index_select(x, 1, ts.tensor([3, 0])).tolist() == [[3, 0], [7, 4], [11, 8]]
    assert ts.embedding(x, ts.tensor([[2], [0]])).tolist() == [[[8, 9, 10, 11]], [[0, 1, 2, 3]]]
    assert x[ts.tensor([-1])].tolist() == [[8, 9, 10, 11]]
    assert x.gather(0, ts.tensor([[2, 1, 0, 2]])).tolist() == [[8, 5, 2, 11]]
    with pytest.raises(IndexError, match="index out of range in self"):
        ts.index_select(x, 0, ts.tensor([3]))
    with pytest.raises(IndexError, match="out of bounds"):
        x[ts.tensor([0, 3])]


def test_masks():
    x = ts.tensor([[1.0, -2.0], [-3.0, 4.0]])
    assert x[x < 0].tolist() == [-2.0, -3.0]
    assert x.masked_fill(x < 0, 0).tolist() == [[1.0, 0.0], [0.0, 4.0]]
    assert ts.where(x < 0, 9.0, x).tolist() == [[1.0, 9.0], [9.0, 4.0]]
    assert ts.nonzero(x < 0).tolist() == [[0, 1], [1, 0]]
    assert x[x > 100].shape == (0,)


def test_creation():
    assert ts.full([2], True).dtype is ts.bool
    assert ts.full([2], 3).tolist() == [3, 3]
    assert ts.arange(2, 5).tolist() == [2, 3, 4]
    assert ts.zeros(2, 0, 3).shape == (2, 0, 3)
    x = ts.tensor([1.5, -0.5])
    assert x.to(ts.int64).tolist() == [1, 0]
    assert x.to(ts.bool).tolist() == [True, True]
    assert ts.dropout(x, 0.5, False) is x
    with pytest.raises(RuntimeError):
        ts.zeros(-1)


def test_sizes_that_overflow_are_rejected():
    for sizes in ([1 << 62, 8], [1 << 33, 1 << 33], [1 << 40, 1 << 20, 0, -1]):
        with pytest.raises((RuntimeError, MemoryError)):
            ts.zeros(sizes)


def test_fill_increments_the_version():
    x = ts.ones(3)
    before = x._version
    x.fill_(2).zero_()
    assert x.tolist() == [0.0, 0.0, 0.0]
    assert x._version == before + 2
    expanded = ts.ones(1).expand(3)
    expanded.fill_(5)  # all elements share one memory location
    assert expanded.tolist() == [5.0, 5.0, 5.0]


def test_pointwise_operators_with_parameters():
    x = ts.tensor([-2.0, 0.5, 3.0])
    assert x.clamp(0, 1).tolist() == [0.0, 0.5, 1.0]
    assert ts.tensor([-2, 5]).clamp(max=3).tolist() == [-2, 3]
    assert (x**2).tolist() == [4.0, 0.25, 9.0]
    assert ts.lerp(x, x + 2, 0.75).tolist() == [-0.5, 2.0, 4.5]
    assert ts.addcmul(x, x, x, value=2).tolist() == [6.0, 1.0, 21.0]
    assert ts.nn.functional.leaky_relu(x, 0.5).tolist() == [-1.0, 0.5, 3.0]


def test_rows_of_every_length_are_joined():
    for lengths in [(1, 1), (3, 20), (16, 17, 1), (100, 25), (700, 3)]:
        for dtype in (np.int8, np.float32, np.complex128):
            parts = [(np.arange(9 * n).reshape(9, n) % 100 + 10 * k).astype(dtype) for k, n in enumerate(lengths)]
            joined = ts.cat([ts.from_numpy(p) for p in parts], 1)
            assert np.array_equal(joined.numpy(), np.concatenate(parts, 1))


@pytest.mark.parametrize("rows, n", [(1, 100), (3, 10), (9, 33)])
def test_columns_by_index(rows, n):
    for dtype in (np.int8, np.float32, np.float64, np.complex128):
        x = np.arange(rows * n).reshape(rows, n).astype(dtype)
        for index in (np.arange(n)[::-1].copy(), np.array([0, n - 1, 0], np.int32), np.zeros(0, np.int64)):
            result = ts.index_select(ts.from_numpy(x), 1, ts.from_numpy(index))
            assert np.array_equal(result.numpy(), x[:, index])
        assert ts.from_numpy(x.reshape(-1))[ts.tensor([-1, 0, -rows * n])].tolist() == x.reshape(-1)[[-1, 0, 0]].tolist()
        for wrong in (n, -1, 1 << 62, -(1 << 62)):
            with pytest.raises((IndexError, RuntimeError)):
                ts.index_select(ts.from_numpy(x), 1, ts.tensor([0, 1, 2, wrong]))
            with pytest.raises((IndexError, RuntimeError)):
                ts.index_select(ts.from_numpy(x[0]), 0, ts.tensor([0, 1, 2, wrong, 3, 4, 5, 6]))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations_against_higher_precision(n, dtype):
    x = np.linspace(-9, 9, n).astype(dtype)
    wide = x.astype(np.float64)
    rtol = 1e-6 if dtype is np.float32 else 1e-14
    normal = np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in wide])
    sigmoid = 1 / (1 + np.exp(-wide))
    cubic = np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))
    functions, given = ts.nn.functional, ts.from_numpy(x)
    np.testing.assert_allclose(functions.gelu(given).numpy(), wide * normal, rtol=20 * rtol, atol=1e-30)
    np.testing.assert_allclose(functions.silu(given).numpy(), wide * sigmoid, rtol=rtol)
    np.testing.assert_allclose(ts.sigmoid(given).numpy(), sigmoid, rtol=rtol)
    result = functions.gelu(given, approximate="tanh").numpy()
    np.testing.assert_allclose(result, 0.5 * wide * (1 + cubic), rtol=rtol, atol=1e-6)
    assert np.isnan(functions.gelu(ts.full_like(given, math.nan)).numpy()).all()


def test_scalar_first_operands_and_alpha():
    x, y = ts.tensor([1.0, -2.0]), ts.tensor([0.5, 4.0])
    assert (3 - x).tolist() == [2.0, 5.0]
    assert ts.add(x, y, alpha=2).tolist() == [2.0, 6.0]
    assert ts.sub(x, y, alpha=2).tolist() == [0.0, -10.0]
    assert (1 - ts.tensor([5])).tolist() == [-4]
    assert (1.5 - ts.tensor([5])).tolist() == [-3.5]


def test_integer_division_equals_python():
    values = [-(2**63), -7, -1, 0, 1, 7, 2**63 - 1]
    k = ts.tensor(values)
    for by in (1, 3, -3, 2**62, -(2**62), -1):
        assert (k % by).tolist() == [v % by for v in values]
        if by != -1:  # the range overflows
            assert (k // by).tolist() == [v // by for v in values]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        k % 0


def test_flattened_views_share_memory():
    x = ts.arange(24).reshape(2, 3, 4)
    assert x.flatten().tolist() == list(range(24)) and x.flatten(1).shape == (2, 12)
    assert x.flatten(0, -2).shape == (6, 4) and x.flatten(1, 1) is x
    assert x.transpose(0, 2).flatten(1).tolist()[0] == [0, 12, 4, 16, 8, 20]
    y = x.view_as(ts.zeros(4, 6))
    y[0, 0] = 7
    assert x[0, 0, 0] == 7 and x._version == y._version == 1 and x.reshape_as(y).shape == (4, 6)
    with pytest.raises(RuntimeError, match="start_dim cannot come after end_dim"):
        x.flatten(2, 1)
    with pytest.raises(RuntimeError, match=r"shape '\[5\]' is invalid for input of size 24"):
        x.view_as(ts.zeros(5))


# Another thread changes the indices, to values out of range or to other elements, while they are read.
CHANGING = """
import sys, threading
import ts
from tests.fuzz.subprocess_watchdog import TIMEOUT_FACTOR

x = ts.ones(1000, 1000)
index, columns = ts.zeros(1000, dtype=ts.int64), ts.zeros(1000, 1000, dtype=ts.int64)
narrow = ts.zeros(1000, 1000, dtype=ts.int32)
OPERATORS = {
    "index_select": (index, lambda: x.index_select(0, index)),
    "index_select of columns": (index, lambda: x.index_select(1, index)),
    "gather": (columns, lambda: x.gather(1, columns)),
    "gather of rows": (columns, lambda: x.gather(0, columns)),
    "gather by int32": (narrow, lambda: x.gather(1, narrow)),
    "take": (columns, lambda: x.take(columns)),
    "x[i]": (columns, lambda: x[columns]),
    "x.t()[i]": (columns, lambda: x.t()[columns[:5]]),
    "embedding": (columns, lambda: ts.nn.functional.embedding(columns[:50], x)),
    "x[i] = y": (columns, lambda: x.index_put_([columns[:500], columns[500:]], ts.ones(1))),
    "scatter": (columns, lambda: x.scatter(1, columns, 1.0)),
    "index_add": (index, lambda: x.index_add(0, index, x * 0)),
    "put": (columns, lambda: x.put(columns, x)),
}
sys.setswitchinterval(1e-6)
for name in sys.argv[1:] or OPERATORS:
    print(name, flush=True)
    changed, compute = OPERATORS[name]
    over = threading.Event()

    def change():
        while not over.is_set():
            changed.fill_(1 << 30)
            changed.fill_(3)

    other = threading.Thread(target=change)
    other.start()
    try:
        for _ in range(40):
            try:
                found = compute()
            except (IndexError, RuntimeError):
                continue
            assert found.min().item() == 1, found
    finally:
        over.set()
        other.join()
print("done")
"""


def test_indices_changed_by_another_thread():
    ended = subprocess.run([sys.executable, "-c", CHANGING], capture_output=True, text=True, timeout=600 * TIMEOUT_FACTOR)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "done"), ended.stdout[-100:] + ended.stderr[-2000:]


@pytest.mark.parametrize("dtype", [ts.int8, ts.float16, ts.float32, ts.float64, ts.complex128])
def test_indexing_by_several_tensors(dtype):
    """Indexing with several index tensors returns elements or rows for any shape of the indices."""
    x = ts.arange(60).reshape(3, 4, 5).to(dtype)
    i, j, k = ts.tensor([[0, -1, 2], [1, 1, -3]]), ts.tensor([[3, 0, -4], [2, -1, 1]]), ts.tensor([[4, -5, 0], [1, 2, 3]])
    array = x.numpy()
    assert x[i, j].tolist() == array[i.numpy(), j.numpy()].tolist()
    assert x[i, j, k].tolist() == array[i.numpy(), j.numpy(), k.numpy()].tolist()
    assert x[i, j[:1]].tolist() == array[i.numpy(), j.numpy()[:1]].tolist()  # the indices broadcast
    assert x[i[:, :0], j[:, :0]].shape == (2, 0, 5)
    scripted = ts.jit.CompilationUnit("def f(x, i, j):\n    return x[i, j]\n")
    assert ts.equal(scripted.f(x, i, j), x[i, j])


def test_an_index_among_several_that_is_out_of_bounds_is_named():
    x, i = ts.zeros(3, 4), ts.tensor([0, 1])
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 1 with size 4"):
        x[i, ts.tensor([1, 4])]
    with pytest.raises(IndexError, match="index -4 is out of bounds for dimension 0 with size 3"):
        x[ts.tensor([1, -4]), i]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
        x[i, i, i]
    with pytest.raises(IndexError, match="shape mismatch"):
        x[i, ts.tensor([0, 1, 2])]


@pytest.mark.parametrize("dtype, columns", [(ts.float16, 2), (ts.float32, 2), (ts.uint8, 4), (ts.uint8, 8), (ts.int16, 4)])
def test_unaligned_rows(dtype, columns):
    """Row kernels accept unaligned rows of any width (checked by the sanitizers)."""
    rows = (ts.arange(5 * columns + 1) % 100).to(dtype)[1:].view(5, columns)
    index = ts.tensor([4, 0, 2])
    expected = [rows.tolist()[i] for i in (4, 0, 2)]
    assert rows.index_select(0, index).tolist() == rows[index].tolist() == expected
    assert ts.nn.functional.embedding(index, rows).tolist() == expected


def cat_with_default(x, y=None):
    return ts.cat([x, y, x], 1)


def cat_of_default(y=None):
    return ts.cat([y], 0)


def test_cat_skips_undefined_tensors():
    """`cat` skips undefined tensors, and raises an error if all its arguments are undefined.

    An undefined tensor is the default None of a script parameter without annotation.
    """
    x = ts.arange(6.0).view(2, 3)
    function = ts.jit.script(cat_with_default)
    for _ in range(3):
        assert ts.equal(function(x), ts.cat([x, x], 1))
    with pytest.raises(RuntimeError, match="NoneType"):
        ts.jit.script(cat_of_default)()


@pytest.mark.parametrize("device", [None, "cpu", ts.device("cpu")])
def test_integer_ranges(device):
    """Ranges of integers follow Python's range, for a device that is given in any way."""
    for bounds in ((0, 10, 3), (0, 9, 3), (5, 5, 1), (-7, 8, 4), (0, 1, 100), (9, 2, -3), (3, 20, 7)):
        result = ts.arange(*bounds, device=device)
        assert result.tolist() == list(range(*bounds)) and result.dtype == ts.int64
    assert ts.arange(0, 10, 3, dtype=ts.int32, device=device).tolist() == [0, 3, 6, 9]
    assert ts.arange(0, 1, 0.25, device=device).tolist() == [0.0, 0.25, 0.5, 0.75]
    for bounds in ((5, 0, 1), (0, 5, -1)):
        with pytest.raises(RuntimeError, match="inconsistent with step sign"):
            ts.arange(*bounds, device=device)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        ts.arange(0, 5, 0, device=device)


@pytest.mark.parametrize("bounds", [(8.0, 5.0, -0.34), (5.0, 8.0, 0.34), (0.5, 3, 0.5), (3, 0.0, -0.5)])
def test_integer_ranges_with_a_fraction_as_step(bounds):
    """Only int64 rejects a step that truncates to 0. Other integer dtypes repeat the first number, as in PyTorch."""
    start, end, step = bounds
    count = math.ceil((end - start) / step)
    for dtype in (ts.uint8, ts.int8, ts.int16, ts.int32):
        assert ts.arange(*bounds, dtype=dtype).tolist() == [int(start)] * count
        assert ts.arange(*bounds, out=ts.empty(0, dtype=dtype)).tolist() == [int(start)] * count
        with pytest.raises(ValueError, match="step must be nonzero"):
            ts.range(*bounds, dtype=dtype)
    with pytest.raises(ValueError, match="step must be nonzero"):
        ts.arange(*bounds, dtype=ts.int64)


def test_indexed_assignment_to_expanded_tensors_warns():
    x = ts.zeros(3, 1).expand(3, 4)
    with pytest.warns(UserWarning, match="Use of index_put_ on expanded tensors is deprecated"):
        x[ts.tensor([0, 1])] = ts.ones(4)
    assert x.tolist() == [[1.0] * 4, [1.0] * 4, [0.0] * 4]


FILLED_DTYPES = ["float32", "float64", "int64", "int32", "bool", "uint8", "int8", "int16", "float16", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", FILLED_DTYPES)
def test_tensors_filled_like_views(dtype):
    kind = getattr(ts, dtype)
    x = ts.rand(3, 4, 5)
    views = [x[1:, :2, ::2], x[..., :1], x[0], x[:, 1], x[:0], x[1, 2, 3]]
    for view in views:
        for result, value in ((ts.zeros_like(view, dtype=kind), 0), (ts.ones_like(view, dtype=kind), 1), (ts.full_like(view, True, dtype=kind), 1)):
            assert result.dtype is kind
            assert result.shape == view.shape
            assert result.is_contiguous()
            assert (result == value).all()
    for view in (x.permute(2, 0, 1), x.permute(1, 0, 2)[:, ::2]):
        result = ts.full_like(view, 1, dtype=kind)
        order = sorted(range(3), key=view.stride, reverse=True)
        assert result.permute(order).is_contiguous()
        assert ts.full_like(view, 1, dtype=kind, memory_format=ts.contiguous_format).is_contiguous()
    expanded = ts.rand(2, 1).expand(2, 3)
    assert ts.zeros_like(expanded).is_contiguous()


def test_fill_values_outside_of_the_dtype():
    assert ts.full((2,), 255, dtype=ts.uint8).tolist() == [255, 255]
    assert ts.full((2,), -128, dtype=ts.int8).tolist() == [-128, -128]
    assert ts.full((2,), 2.5, dtype=ts.uint8).tolist() == [2, 2]
    assert ts.full((2,), 1.5, dtype=ts.complex64).tolist() == [1.5 + 0j, 1.5 + 0j]
    assert ts.full((1,), 1 + 2j).tolist() == [1 + 2j]
    for value, dtype in ((1e39, ts.float32), (1e39, ts.complex64)):
        with pytest.raises(RuntimeError, match="cannot be converted"):
            ts.full((2,), value, dtype=dtype)


def test_ranges_of_floats_and_negative_steps():
    assert ts.arange(3.0).tolist() == [0.0, 1.0, 2.0]
    assert ts.arange(1, 2.5).tolist() == [1.0, 2.0]
    assert ts.arange(2, -1, -1).tolist() == [2, 1, 0]
    assert ts.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert ts.arange(1, -1, -0.5).tolist() == [1.0, 0.5, 0.0, -0.5]
    assert ts.arange(4, dtype=ts.float64).dtype is ts.float64
    assert ts.arange(0, 1, 0.1).shape == (10,)
    assert ts.arange(1.0, 1.0).shape == (0,)
    for start, end, step in ((-3.0, 4.0, 0.3), (10.0, -5.5, -0.7), (0.0, 1e6, 333.3)):
        numbers = start + np.arange(int(np.ceil((end - start) / step))) * step
        assert ts.arange(start, end, step, dtype=ts.float64).tolist() == numbers.tolist()
        assert ts.arange(start, end, step).tolist() == numbers.astype("float32").tolist()
    for bounds in ((1.0, 0.0), (0.0, 1.0, -0.5), (0, 3, -1), (0.0, math.inf), (0.0, 1.0, 0.0)):
        with pytest.raises(RuntimeError):
            ts.arange(*bounds)
