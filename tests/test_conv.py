"""Convolutions on the CPU equal their definition for every input layout and algorithm."""

import itertools
import threading

import numpy as np
import pytest

import ts
from tests.divided_work import divided_work
from ts.backends.cpu import thread_pool
from ts.backends.cpu.kernels import conv as correlation, conv_layout, microkernels, packed_operand_cache


@pytest.fixture
def widest():
    ts.ones(2, 2) @ ts.ones(2, 2)  # The first product selects the algorithm of later products, for the widest vectors.
    yield microkernels.instruction_set()
    microkernels.instruction_set(512)


@pytest.fixture
def threads():
    before = thread_pool.count()
    yield
    thread_pool.set_count(before)


def reference_convolution(x, weight, stride, padding, dilation, groups):
    """Return a float64 convolution by its definition: out[t] sums x[t * stride + k * dilation - padding] * w[k]."""
    n = weight.ndim - 2
    kernel = weight.shape[2:]
    sizes = [(x.shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(n)]
    out = np.zeros((x.shape[0], weight.shape[0], *sizes), x.dtype)
    per_group = weight.shape[0] // groups
    for index, k in itertools.product(np.ndindex(*sizes), np.ndindex(*kernel)):
        at = tuple(t * s + j * d - p for t, s, j, d, p in zip(index, stride, k, dilation, padding, strict=True))
        if any(not 0 <= i < size for i, size in zip(at, x.shape[2:], strict=True)):
            continue
        for g in range(groups):
            rows = slice(g * per_group, (g + 1) * per_group)
            channels = x[(slice(None), slice(g * weight.shape[1], (g + 1) * weight.shape[1]), *at)]
            out[(slice(None), rows, *index)] += channels @ weight[(rows, slice(None), *k)].T
    return out


CASES = {  # input, weight, stride, padding, dilation, groups
    "pointwise": ((2, 5, 7, 9), (11, 5, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "padded": ((1, 3, 9, 11), (9, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "not padded": ((2, 3, 9, 11), (8, 3, 3, 2), (1, 1), (0, 0), (1, 1), 1),
    "strided": ((1, 3, 13, 17), (5, 3, 5, 3), (2, 3), (2, 1), (1, 1), 1),
    "strided beyond the kernel": ((1, 2, 13, 17), (3, 2, 2, 1), (4, 5), (1, 3), (1, 1), 1),
    "dilated": ((1, 2, 12, 12), (3, 2, 3, 3), (1, 2), (3, 2), (3, 2), 1),
    "dilated beyond the input": ((1, 2, 6), (3, 2, 3), (1,), (50,), (50,), 1),
    "padded beyond the kernel": ((1, 2, 4), (3, 2, 2), (3,), (9,), (1,), 1),
    "groups": ((2, 6, 5, 6), (9, 2, 3, 3), (1, 1), (1, 1), (1, 1), 3),
    "depthwise": ((2, 5, 9, 50), (5, 1, 3, 3), (1, 1), (1, 1), (1, 1), 5),
    "depthwise, long": ((1, 2, 3000), (4, 1, 5), (1,), (2,), (1,), 2),
    "one line": ((3, 4, 130), (10, 4, 5), (1,), (2,), (1,), 1),
    "volume": ((1, 2, 4, 5, 6), (5, 2, 2, 3, 3), (1, 2, 1), (1, 0, 1), (1, 1, 2), 1),
    "deep": ((1, 40, 6, 6), (17, 40, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "large weight": ((1, 256, 3, 3), (260, 256, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "pointwise, whole panels": ((2, 140, 8, 12), (20, 140, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "pointwise, groups": ((2, 12, 10, 10), (18, 4, 1, 1), (1, 1), (0, 0), (1, 1), 3),
    "many filters, small images": ((5, 6, 7, 7), (70, 6, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "many filters, whole vectors": ((2, 5, 6, 56), (72, 5, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "many filters, strided": ((3, 5, 15, 29), (68, 5, 3, 3), (2, 2), (1, 1), (1, 1), 1),
    "many filters, one position left": ((1, 150, 7, 7), (75, 150, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "many filters, two positions left": ((1, 150, 5, 10), (80, 150, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "many filters, three positions left": ((1, 9, 3, 17), (83, 9, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "many filters, four positions left": ((1, 9, 4, 13), (66, 9, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "many filters, groups": ((2, 10, 5, 7), (150, 5, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    "blocks of rows": ((2, 60, 25, 200), (9, 60, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "blocks of rows, strided": ((1, 60, 50, 130), (9, 60, 3, 3), (2, 2), (1, 2), (1, 1), 1),
    "blocks of rows, groups": ((1, 120, 12, 230), (24, 60, 5, 1), (1, 1), (2, 0), (1, 1), 2),
    "whole window": ((3, 6, 4, 5), (7, 6, 4, 5), (2, 1), (0, 0), (1, 1), 1),
    "whole window, padded": ((3, 6, 3, 3), (7, 6, 3, 3), (4, 4), (1, 1), (1, 1), 1),
}


def operands(name, dtype):
    x, weight, *rest = CASES[name]
    numbers = np.random.default_rng(7)
    return numbers.standard_normal(x).astype(dtype), numbers.standard_normal(weight).astype(dtype), rest


def run(x, weight, stride, padding, dilation, groups, bias=None):
    function = getattr(ts, f"conv{weight.ndim - 2}d")
    b = None if bias is None else ts.from_numpy(bias)
    return function(ts.from_numpy(x), ts.from_numpy(weight), b, stride, padding, dilation, groups).numpy()


@pytest.mark.parametrize("width", [128, 256, 512])
@pytest.mark.parametrize("name", CASES)
def test_follows_the_definition(name, width, widest):
    """Convolutions equal their definition for each instruction set of this machine."""
    microkernels.instruction_set(width)
    x, weight, rest = operands(name, np.float64)
    expected = reference_convolution(x, weight, *rest)
    bias = np.arange(weight.shape[0], dtype=np.float64)
    column = bias.reshape(-1, *(1,) * (x.ndim - 2))
    assert np.allclose(run(x, weight, *rest, bias=bias), expected + column, rtol=1e-13, atol=1e-12)
    x, weight = x.astype(np.float32), weight.astype(np.float32)
    actual = run(x, weight, *rest)
    assert actual.dtype == np.float32
    assert np.allclose(actual, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("width", [128, 256, 512])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_depthwise_of_random_geometries(dtype, width, widest):
    """Depthwise convolutions of random sizes, strides, paddings and dilations equal their definition."""
    microkernels.instruction_set(width)
    random = np.random.default_rng(width)
    for _ in range(40):
        kernel, stride, dilation = random.integers(1, 6, 2), random.integers(1, 4, 2), random.integers(1, 4, 2)
        padding = random.integers(0, 4, 2)
        size = [max(n, d * (k - 1) + 1 - 2 * p) for n, d, k, p in zip((random.integers(1, 9), random.integers(1, 40)), dilation, kernel, padding, strict=True)]
        images, channels, filters = random.integers(1, 3), random.integers(2, 6), random.integers(1, 4)
        x = random.normal(size=(images, channels, *size)).astype(dtype)
        weight = random.normal(size=(channels * filters, 1, *kernel)).astype(dtype)
        bias = random.normal(size=channels * filters).astype(dtype)
        rest = [[int(n) for n in each] for each in (stride, padding, dilation)]
        expected = reference_convolution(x, weight, *rest, channels) + bias.reshape(-1, 1, 1)
        assert np.allclose(run(x, weight, *rest, int(channels), bias=bias), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [128, 256, 512])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_geometries(dtype, width, widest):
    """Convolutions of random sizes, filters, groups, strides and paddings equal their definition."""
    microkernels.instruction_set(width)
    random = np.random.default_rng(width + 1)
    for _ in range(40):
        kernel, stride, dilation = random.integers(1, 5, 2), random.integers(1, 3, 2), random.integers(1, 3, 2)
        padding, groups = random.integers(0, 3, 2), int(random.integers(1, 3))
        size = [max(n, d * (k - 1) + 1 - 2 * p) for n, d, k, p in zip((random.integers(1, 9), random.integers(1, 60)), dilation, kernel, padding, strict=True)]
        images, channels, filters = random.integers(1, 5), random.integers(1, 6), random.integers(1, 100)
        x = random.normal(size=(images, channels * groups, *size)).astype(dtype)
        weight = random.normal(size=(filters * groups, channels, *kernel)).astype(dtype)
        bias = random.normal(size=filters * groups).astype(dtype)
        rest = [[int(n) for n in each] for each in (stride, padding, dilation)]
        expected = reference_convolution(x, weight, *rest, groups) + bias.reshape(-1, 1, 1)
        assert np.allclose(run(x, weight, *rest, groups, bias=bias), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_any_strides(name):
    """Convolutions accept inputs and weights with any strides."""
    x, weight, rest = operands(name, np.float32)
    expected = run(x, weight, *rest)
    transposed = np.ascontiguousarray(x.T).T
    assert np.array_equal(run(transposed, np.ascontiguousarray(weight.T).T, *rest), expected)
    wide = np.zeros((*x.shape[:-1], x.shape[-1] * 2), np.float32)
    wide[..., ::2] = x
    assert np.array_equal(run(wide[..., ::2], weight, *rest), expected)


@pytest.mark.parametrize("name", CASES)
def test_same_bits_for_every_number_of_threads(name):
    x, weight, rest = operands(name, np.float32)
    with divided_work(1):
        expected = run(x, weight, *rest)
    for count in (2, 3, 7):
        with divided_work(count):
            assert np.array_equal(run(x, weight, *rest), expected)


@pytest.mark.parametrize("name", CASES)
def test_transposed_is_the_adjoint(name):
    """<conv(x), y> = <x, conv_transpose(y)> for every geometry."""
    x, weight, (stride, padding, dilation, groups) = operands(name, np.float64)
    forward = run(x, weight, stride, padding, dilation, groups)
    y = np.random.default_rng(8).standard_normal(forward.shape)
    output_padding = [
        size - ((m - 1) * s - 2 * p + d * (k - 1) + 1)
        for size, m, s, p, d, k in zip(
            x.shape[2:], y.shape[2:], stride, padding, dilation, weight.shape[2:], strict=True
        )
    ]
    if any(o >= max(s, d) for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        pytest.skip("no output padding reaches this size")
    function = getattr(ts, f"conv_transpose{x.ndim - 2}d")
    transposed_result = function(ts.from_numpy(y), ts.from_numpy(weight), None, stride, padding, output_padding, groups, dilation).numpy()
    assert transposed_result.shape == x.shape
    assert np.isclose((forward * y).sum(), (x * transposed_result).sum(), rtol=1e-10)


def test_transposed_gaps_hold_the_bias():
    """Transposed convolution writes only the bias at positions between strides wider than the kernel."""
    x, weight = ts.ones(1, 1, 2), ts.ones(1, 1, 1)
    result = ts.conv_transpose1d(x, weight, ts.tensor([5.0]), stride=3, output_padding=2)
    assert result.tolist() == [[[6.0, 5.0, 5.0, 6.0, 5.0, 5.0]]]


@pytest.mark.parametrize("dtype, tolerance", [(ts.float16, 11), (ts.bfloat16, 8)])
def test_small_floats_round_once(dtype, tolerance):
    """Sums of 16-bit floats are computed in float32: 300 products of 1 + 2**-9 would lose digits."""
    x, weight = ts.ones(1, 300, 2).to(dtype), ts.ones(1, 300, 1).to(dtype)
    assert ts.conv1d(x, weight).to(ts.float32).tolist() == [[[300.0, 300.0]]]


def test_complex_numbers():
    x = ts.tensor([[[1 + 2j, 3 - 1j]]])
    weight = ts.tensor([[[2 - 1j, 1j]]])
    assert ts.conv1d(x, weight).tolist() == [[[(1 + 2j) * (2 - 1j) + (3 - 1j) * 1j]]]
    assert ts.conv_transpose1d(x, weight).tolist() == [
        [[(1 + 2j) * (2 - 1j), (1 + 2j) * 1j + (3 - 1j) * (2 - 1j), (3 - 1j) * 1j]]
    ]


def test_no_read_beyond_the_input():
    """Convolution does not read beyond its input: NaN values after the last panel do not affect the
    result."""
    memory = np.full(4 * 9 + 64, np.nan, np.float32)
    memory[: 4 * 9] = 1
    x = memory[: 4 * 9].reshape(1, 4, 3, 3)
    assert run(x, np.ones((8, 4, 2, 2), np.float32), (1, 1), (0, 0), (1, 1), 1).tolist() == np.full((1, 8, 2, 2), 16).tolist()


def test_calls_from_many_threads():
    """Convolutions in several threads are independent."""
    x, weight, rest = operands("padded", np.float32)
    expected = run(x, weight, *rest)
    results = []
    callers = [threading.Thread(target=lambda: results.append(run(x, weight, *rest))) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(results) == 8
    assert all(np.array_equal(one, expected) for one in results)


def test_results_of_channels_last_are_channels_last():
    """Results are channels-last if the input or the weight is channels-last, and contiguous if both are
    contiguous."""
    x, weight = ts.rand(2, 3, 5, 6), ts.rand(4, 3, 2, 2)
    last = ts.channels_last
    expected = ts.nn.functional.conv2d(x, weight)
    assert expected.is_contiguous()
    pairs = [(x.contiguous(memory_format=last), weight), (x, weight.contiguous(memory_format=last))]
    for a, b in pairs:
        actual = ts.nn.functional.conv2d(a, b)
        assert actual.stride() == (80, 1, 20, 4) and ts.allclose(actual, expected)


def copy_geometry(taps=((0, (0, 0, 0)),), row_q=(0,), row_offset=(0,), row=4, length=4, size=4):
    """Return the geometry of a convolution that copies four elements, with optional errors."""
    source = conv_layout.InputLayout([1, 1, size], [1, 1, 1], [0, 0, 0], [1, 1, length], [[0], [0], [0]])
    return source, [conv_layout.SubConvolution(list(taps), np.array(row_q), np.array(row_offset), row, 1)]


def copied(geometry, x=(1, 1, 4), weight=(1, 1, 1), out=(1, 1, 4), groups=1, bias=None, kind=np.float32):
    x, weight, out = np.ones(x, np.float32), np.ones(weight, np.float32), np.zeros(out, kind)
    correlation.correlate(x, weight, bias, out, *geometry, groups, False)
    return out


def test_copy_kernel():
    assert copied(copy_geometry()).tolist() == [[[1.0] * 4]]


@pytest.mark.parametrize(
    ("geometry", "operands", "message"),
    [
        ({"taps": [(1, (0, 0, 0))]}, {}, "outside the source"),
        ({"taps": [(0, (0, 0, 1))]}, {}, "outside the weight's window"),
        ({"row_offset": [1]}, {}, "outside the output"),
        ({"row": 5}, {}, "outside the source"),
        ({"size": 5}, {}, "a different input size"),
        ({}, {"x": (2, 1, 4)}, "batch sizes must be equal"),
        ({}, {"groups": 0}, "groups must divide"),
        ({}, {"groups": 2}, "groups must divide"),
        ({}, {"weight": (2, 1, 1)}, "the weight does not match"),
        ({}, {"weight": (1, 1)}, "number of dimensions"),
        ({}, {"bias": np.ones(2, np.float32)}, "the bias does not match"),
        ({}, {"kind": np.float64}, "float32 or all float64"),
    ],
)
def test_invalid_operands_are_rejected(geometry, operands, message):
    """Invalid geometry or operands raise an error before the unchecked loops start."""
    with pytest.raises((ValueError, TypeError), match=message):
        copied(copy_geometry(**geometry), **operands)


@pytest.mark.parametrize("wrong", [{"row_q": [-1]}, {"row_offset": [-1]}, {"taps": [(-1, (0, 0, 0))]}, {"row": -1}, {"row": 1 << 62}])
def test_places_are_not_negative(wrong):
    with pytest.raises(ValueError):
        copy_geometry(**wrong)


def test_work_objects_cannot_be_created():
    """Work objects of kernels cannot be created from Python."""
    from ts.backends.cpu.kernels import conv_weight_grad, pooling_windows

    for run in (correlation.Run, conv_weight_grad.Weights, pooling_windows.Run):
        with pytest.raises(TypeError, match="cannot create"):
            run()


@pytest.mark.parametrize("which", ["images", "weight"])
def test_tensors_rebound_by_another_thread(which, monkeypatch):
    """A call uses its original tensors if another thread rebinds them."""
    from ts.backends.cpu import conv_decomposition

    x, weight = ts.ones(1, 3, 19, 17), ts.ones(4, 3, 5, 3)
    expected = ts.full((1, 4, 15, 15), 45.0)
    decompose = conv_decomposition.decompose

    def rebind(*args):
        {"images": x, "weight": weight}[which].data = ts.ones(1, 1, 1, 1)
        return decompose(*args)

    monkeypatch.setattr(conv_decomposition, "decompose", rebind)
    assert ts.nn.functional.conv2d(x, weight).equal(expected)
    monkeypatch.undo()
    assert ts.nn.functional.conv2d(ts.ones(1, 3, 19, 17), ts.ones(4, 3, 5, 3)).equal(expected)


# ---- packed weights



@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("groups, dtype", [(1, ts.float32), (2, ts.float32), (1, ts.float64)])
@pytest.mark.parametrize("transposed", [False, True])
def test_cached_weights_have_the_same_bits(groups, dtype, transposed, bias, threads):
    """Results have equal bits with and without the cached weight, for every number of threads and input size."""
    shape = (24, 20, 3, 3) if transposed else (20, 24 // groups, 3, 3)
    weight = ts.randn(shape, dtype=dtype)
    shift = ts.randn(20 * groups if transposed else 20, dtype=dtype) if bias else None
    function = ts.conv_transpose2d if transposed else ts.conv2d
    for size in ((9, 9), (30, 17)):
        x = ts.randn(2, 24, *size, dtype=dtype)
        packed_operand_cache.clear()
        results = []
        for count in (1, 3, 2):
            thread_pool.set_count(count)
            results.append(function(x, weight, shift, stride=2, padding=1, groups=groups))
        # a transposed convolution of stride 2 packs the weight for each of its 4 phases
        assert packed_operand_cache.cache_size()[0] == (4 if transposed else 1)
        results.append(function(x, weight.clone(), shift, stride=2, padding=1, groups=groups))
        assert all(ts.equal(results[0], each) for each in results[1:])


WRITES = {
    "operator": lambda w: w.mul_(2),
    "view": lambda w: w[3].fill_(1),
    "data": lambda w: w.data.add_(1),
    "replaced data": lambda w: setattr(w, "data", ts.ones_like(w)),
    "numpy": lambda w: w.detach().numpy().fill(3),
    "copy": lambda w: w.copy_(ts.zeros_like(w)),
    "storage": lambda w: w.untyped_storage().fill_(0),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("make", [lambda w: w, ts.nn.Parameter], ids=("tensor", "parameter"))
def test_writes_to_weights_are_seen(write, make):
    """A convolution uses the elements that the weight has now, also after its packed form was cached."""
    weight, x = make(ts.randn(16, 16, 3, 3)), ts.randn(1, 16, 12, 12)
    packed_operand_cache.clear()
    with ts.no_grad():
        for _ in range(3):
            ts.conv2d(x, weight)
        assert packed_operand_cache.cache_size()[0] == 1
        WRITES[write](weight)
        for _ in range(3):
            assert ts.equal(ts.conv2d(x, weight), ts.conv2d(x, weight.clone()))


def test_alternating_layouts_of_one_weight():
    """A weight that convolutions of different groups and shapes use is packed for each of them."""
    weight, x = ts.randn(16, 8, 3, 3), ts.randn(1, 16, 12, 12)
    packed_operand_cache.clear()
    uses = [
        lambda w: ts.conv2d(x, w, groups=2),
        lambda w: ts.conv_transpose2d(x, w, stride=2),
        lambda w: ts.conv1d(x[:, :8].flatten(2), w.view(16, 8, 9)),
        lambda w: ts.conv2d(x[:, :8], w.flip(2), dilation=2),
    ]
    for _ in range(4):
        for use in uses:
            assert ts.equal(use(weight), use(weight.clone()))


def test_weights_of_archives_are_cached(tmp_path):
    """Weights of a memory-mapped archive are cached, except for a record that shares its bytes with another."""
    module = ts.jit.trace(ts.nn.Conv2d(32, 64, 3), ts.randn(1, 32, 8, 8))
    module.save(str(tmp_path / "conv.pt"))
    loaded = ts.jit.load(str(tmp_path / "conv.pt"))
    x = ts.randn(1, 32, 8, 8)
    packed_operand_cache.clear()
    with ts.no_grad():
        for _ in range(3):
            assert ts.equal(loaded(x), module(x))
        assert packed_operand_cache.cache_size()[0] == 2
        loaded.weight.mul_(2)
        assert ts.allclose(loaded(x) - module.bias.view(-1, 1, 1), 2 * (module(x) - module.bias.view(-1, 1, 1)), atol=1e-4)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_padding_names_are_checked(requires_grad):
    """Invalid names of paddings are rejected, also while autograd records the convolution."""
    x, weight = ts.ones(1, 1, 4, 4), ts.ones(1, 1, 3, 3, requires_grad=requires_grad)
    with pytest.raises(RuntimeError, match="padding='same' is not supported for strided convolutions"):
        ts.conv2d(x, weight, None, 2, "same")
    with pytest.raises(RuntimeError, match="Invalid padding string: 'bad'"):
        ts.conv2d(x, weight, None, 1, "bad")
    assert ts.conv2d(x, weight, None, 2, "valid").shape == (1, 1, 1, 1)
