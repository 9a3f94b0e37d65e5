"""Native recurrent networks equal the records' Python kernels, with fallbacks."""

import copy
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import ts
from ts.backends.cpu.kernels import packed_operand_cache, simd_level
from ts.backends.cpu.namespace import namespace
from ts.ops.registry import find

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
SHAPES = [(5, 4, 3, 6), (37, 16, 1, 3), (16, 1, 2, 1)]  # hidden size, input size, batch size, time steps


def random(*shape, dtype):
    """Return normal numbers scaled by the square root of the last dimension, so that recurrent steps stay
    bounded."""
    result = np.random.default_rng(sum(shape)).standard_normal(shape)
    return ts.tensor(result / np.sqrt(shape[-1]), dtype=dtype)


def layer_weights(name, dtype, sizes, biased, layers, directions, projected):
    cell, inputs = sizes
    gates, hidden, weights = GATES[name] * cell, projected or cell, []
    for layer in range(layers):
        for _ in range(directions):
            weights += [random(gates, hidden * directions if layer else inputs, dtype=dtype)]
            weights += [random(gates, hidden, dtype=dtype)]
            weights += [random(gates, dtype=dtype), random(gates, dtype=dtype)] if biased else []
            weights += [random(hidden, cell, dtype=dtype)] if projected else []
    return weights


def record_result(name, *args):
    """Return the result of the Python kernel of a record."""
    return find(name).kernel(namespace, *[arrays(x) for x in args])


def arrays(x):
    if isinstance(x, list):
        return [arrays(y) for y in x]
    return x.numpy() if isinstance(x, ts.Tensor) else x


def assert_close(actual, expected, dtype):
    tolerance = 1e-5 if dtype is ts.float32 else 1e-12
    for x, y in zip(actual, expected, strict=True):
        np.testing.assert_allclose(x.numpy(), y, tolerance, tolerance)
        assert x.numpy().strides == y.strides


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("cell, inputs, batch, times", SHAPES)
def test_stacks(name, dtype, cell, inputs, batch, times):
    packed = ts.tensor([batch, *[1] * (times - 1)])
    for biased, bidirectional, projected in itertools.product([True, False], [True, False], [0, 2]):
        if projected and name != "lstm":
            continue
        directions = 2 if bidirectional else 1
        weights = layer_weights(name, dtype, (cell, inputs), biased, 2, directions, projected)
        hidden = random(2 * directions, batch, projected or cell, dtype=dtype)
        state = [hidden, random(2 * directions, batch, cell, dtype=dtype)] if name == "lstm" else hidden
        options = [weights, biased, 2, 0.0, False, bidirectional]
        for first in (False, True):
            x = random(*(batch, times) if first else (times, batch), inputs, dtype=dtype)
            args = [x, state, *options, first]
            assert_close(getattr(ts, name)(*args), record_result(f"aten::{name}.input", *args), dtype)
        args = [random(int(packed.sum()), inputs, dtype=dtype), packed, state, *options]
        assert_close(getattr(ts, name)(*args), record_result(f"aten::{name}.data", *args), dtype)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("biases", [0, 1, 2])
def test_cells(name, dtype, biases):
    x, hidden = random(3, 4, dtype=dtype), random(3, 18, dtype=dtype)
    gates = GATES[name] * 18
    weights = [random(gates, 4, dtype=dtype), random(gates, 18, dtype=dtype), None, None]
    weights[2 : 2 + biases] = [random(gates, dtype=dtype) for _ in range(biases)]
    state = [hidden, random(3, 18, dtype=dtype)] if name == "lstm" else hidden
    before = hidden.clone()
    actual = getattr(ts, f"{name}_cell")(x, state, *weights)
    expected = record_result(f"aten::{name}_cell", x, state, *weights)
    assert_close(actual if name == "lstm" else [actual], expected if name == "lstm" else [expected], dtype)
    assert ts.equal(hidden, before)


def test_invalid_operands_use_the_record():
    given = SimpleNamespace(x=ts.ones(4, 2, 3), h=ts.ones(1, 2, 5), c=ts.ones(1, 2, 5))
    weights = layer_weights("lstm", ts.float32, (5, 3), True, 1, 1, 0)
    options = [True, 1, 0.0, False, False, False]
    with pytest.raises((RuntimeError, ValueError)):
        ts.lstm(given.x, [given.h, given.c], [weights[1], *weights[1:]], *options)
    with pytest.raises((RuntimeError, ValueError)):
        ts.lstm(given.x, [given.h, ts.ones(1, 2, 4)], weights, *options)
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        ts.lstm(given.x, [given.h], weights, *options)
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        ts.lstm(given.x, [given.h, given.c], weights[:3], *options)
    for sizes in ([2, 3], [-1, 3], [1 << 62, 2], [2, 1]):  # sum to more or less than two rows
        rows = ts.ones(2, 3)
        with pytest.raises((RuntimeError, ValueError, IndexError)):
            result, *_ = ts.lstm(rows, ts.tensor(sizes), [given.h, given.c], weights, *options[:-1])
            assert result.shape[0] == 2, "rows that are not there"
            raise ValueError("as many rows as were given")
    with pytest.raises(RuntimeError, match="input has inconsistent input_size: got 3 expected 2"):
        ts.gru_cell(ts.ones(1, 3), ts.ones(1, 1), ts.ones(3, 2), ts.ones(3, 1))


def test_deadline_between_time_steps():
    weights = layer_weights("gru", ts.float32, (2, 2), True, 1, 1, 0)
    with ts.limits(seconds=0.02), pytest.raises(ts.errors.TimeExceeded):
        ts.gru(ts.ones(3_000_000, 1, 2), ts.ones(1, 1, 2), weights, True, 1, 0.0, False, False, False)


def test_views_of_parameters():
    x = ts.nn.Parameter(ts.arange(6.0).reshape(2, 3))
    assert x.t().tolist() == [[0, 3], [1, 4], [2, 5]] and x.t().requires_grad
    assert x.t()._base is x and type(x[0]) is ts.Tensor


def test_functions_of_parts():
    """Pointwise functions of strided views equal those of contiguous tensors, and keep the strides of
    `empty_like`."""
    x = ts.linspace(-3, 3, 40).reshape(4, 10)
    for part in (*x.chunk(2, 1), x[:, ::3], x[::2], x[1:2, 1:2].expand(3, 4), x.t(), x[:, :0]):
        for name in ("sigmoid", "exp", "relu", "neg", "tanh"):
            result = getattr(part, name)()
            assert ts.allclose(result, getattr(part.contiguous(), name)(), 1e-6)
            assert result.stride() == ts.empty_like(part).stride() or part.numel() == 0 or 0 in part.stride()


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.skipif(simd_level.current_level() == "baseline", reason="weights are packed at the SIMD levels avx2 and avx512")
def test_weights_are_packed_once(kind):
    """Recurrent layers and cells have equal bits with and without packed weights, and use weights written
    afterwards."""
    for batch, steps in ((1, 2), (1, 9), (6, 2), (6, 9)):
        layer = getattr(ts.nn, kind)(48, 64, num_layers=2, bidirectional=True)
        cell, x = getattr(ts.nn, f"{kind}Cell")(48, 64), ts.randn(steps, batch, 48)
        packed_operand_cache.clear()
        with ts.no_grad():
            runs = [(layer(x)[0], cell(x[0])) for _ in range(4)]
            assert packed_operand_cache.cache_size()[0] > 0
            for output, state in runs[1:]:
                assert ts.equal(output, runs[0][0])
                assert all(ts.equal(a, b) for a, b in zip(state, runs[0][1], strict=True))
            layer.weight_hh_l1_reverse.mul_(2)
            cell.weight_hh.mul_(2)
            packs_used = layer(x)[0], cell(x[0])[0]
            packed_operand_cache.clear()
            fresh = copy.deepcopy(layer), copy.deepcopy(cell)
            assert ts.equal(fresh[0](x)[0], packs_used[0]) and ts.equal(fresh[1](x[0])[0], packs_used[1])


def layer(dtype, cell, inputs, batch, times, stacked):
    """Return arguments of a layer: input, weights, biases, states."""
    state = (1, batch, cell) if stacked else (batch, cell)
    shapes = [(times, batch, inputs), (4 * cell, inputs), (4 * cell, cell), (4 * cell,), (4 * cell,), state, state]
    return [random(*shape, dtype=dtype) for shape in shapes]


@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("reverse, biased", list(itertools.product([False, True], [False, True])))
@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
@pytest.mark.parametrize("cell, inputs, batch, times", [*SHAPES, (8, 3, 2, 1)])
def test_layers_and_gradients(dtype, cell, inputs, batch, times, reverse, biased, stacked):
    args = layer(dtype, cell, inputs, batch, times, stacked)
    options = [reverse, [], 2, cell, 1, biased, False, False, True]
    result = ts.mkldnn_rnn_layer(*args, *options)
    assert_close(result[:3], record_result("aten::mkldnn_rnn_layer", *args, *options)[:3], dtype)
    output, hy, cy, workspace = result
    for absent in range(4):
        grads = [None if i == absent else random(*x.shape, dtype=dtype) for i, x in enumerate((output, hy, cy))]
        backward_arguments = [*args, output, hy, cy, *grads, reverse, 2, cell, 1, biased, True, False, [], False, workspace]
        actual = ts.ops.aten.mkldnn_rnn_layer_backward(*backward_arguments)
        assert_close(actual, record_result("aten::mkldnn_rnn_layer_backward", *backward_arguments), dtype)
        mask = [i % 2 == absent % 2 for i in range(7)]
        for x, whole, expected in zip(ts.ops.aten._mkldnn_rnn_layer_backward(*backward_arguments, mask), actual, mask, strict=True):
            assert x.equal(whole) if expected else x.shape == (0,)


def test_a_layer_is_differentiated_twice():
    args = [x.requires_grad_() for x in layer(ts.float64, 3, 2, 2, 3, False)]

    def run(*args):
        return ts.mkldnn_rnn_layer(*args, True, [], 2, 3, 1, True, False, False, True)[:3]

    assert ts.autograd.gradcheck(run, args)
    assert ts.autograd.gradgradcheck(run, args)


def test_layers_reject_mismatched_operands():
    args = layer(ts.float32, 4, 3, 2, 3, False)
    output, hy, cy, workspace = ts.mkldnn_rnn_layer(*args, False, [], 2, 4, 1, True, False, False, True)
    with pytest.raises(RuntimeError, match="mode 3"):
        ts.mkldnn_rnn_layer(*args, False, [], 3, 4, 1, True, False, False, True)
    rest = [output, None, None, False, 2, 4, 1, True, True, False, [], False]
    for wrong in (workspace[:-4], workspace.float(), ts.zeros(0, dtype=ts.uint8)):
        with pytest.raises(RuntimeError, match="a workspace of 480 bytes"):
            ts.ops.aten.mkldnn_rnn_layer_backward(*args, output, hy, cy, *rest, wrong)
    for i in range(7):
        for change in (lambda x: x[..., :-1], lambda x: x.cfloat(), lambda x: x.double(), lambda x: x.sum()):
            operands = [change(x) if k == i else x for k, x in enumerate(args)]
            with pytest.raises(RuntimeError, match="mkldnn"):
                ts.mkldnn_rnn_layer(*operands, False, [], 2, 4, 1, True, False, False, True)
    for grad in (ts.ones(1, 1, 4), ts.ones(4, 2, 4), ts.ones(0, 2, 4)):
        with pytest.raises(RuntimeError, match="expected a tensor of shape"):
            ts.ops.aten.mkldnn_rnn_layer_backward(*args, output, hy, cy, grad, *rest[1:], workspace)
    for mask in ([], [True] * 3, [True] * 9):
        with pytest.raises(RuntimeError, match="output_mask must have 7 elements"):
            ts.ops.aten._mkldnn_rnn_layer_backward(*args, output, hy, cy, *rest, workspace, mask)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64], ids=str)
def test_training_goes_through_layers(dtype):
    model = ts.nn.LSTM(3, 4, 2, bidirectional=True, dtype=dtype)
    output, (hidden, _) = model(random(5, 2, 3, dtype=dtype))
    assert [node.name() for node, _ in output.grad_fn.next_functions] == ["MkldnnRnnLayerBackward0"] * 2
    model.zero_grad()
    (output.sum() + hidden.sum()).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("kind", [ts.nn.RNNCell, ts.nn.GRUCell, ts.nn.LSTMCell])
def test_cells_reject_mixed_dtypes(kind):
    with pytest.raises(RuntimeError, match="mat1 and mat2 must have the same dtype, but got Double and Float"):
        kind(3, 4)(ts.rand(2, 3, dtype=ts.float64))
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype, but got: double != float"):
        kind(3, 4, bias=False)(ts.rand(2, 3, dtype=ts.float64))
