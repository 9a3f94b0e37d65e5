"""Convolutions in traces: recorded as `aten::_convolution`, as in PyTorch, with the values of the operator."""

from __future__ import annotations

import re
from typing import Any

import pytest

import ts


def _kinds(graph: Any) -> list[str]:
    """Return the operators of a graph, without those that create its tensors and constants."""
    return [k for k in re.findall(r"= (aten::\w+)", str(graph)) if k not in ("aten::ones", "aten::Int")]


CALLS = {
    "conv1d": (lambda x: ts.conv1d(x, ts.ones(2, 3, 2), stride=2), (1, 3, 8), ["aten::_convolution"]),
    "conv2d": (
        lambda x: ts.conv2d(x, ts.ones(2, 3, 2, 2), padding=(1, 0)),
        (1, 3, 4, 4),
        ["aten::_convolution"],
    ),
    "conv3d": (
        lambda x: ts.conv3d(x, ts.ones(2, 3, 1, 1, 1), ts.ones(2)),
        (1, 3, 2, 2, 2),
        ["aten::_convolution"],
    ),
    "groups": (lambda x: ts.conv2d(x, ts.ones(3, 1, 2, 2), groups=3), (1, 3, 4, 4), ["aten::_convolution"]),
    "transposed": (
        lambda x: ts.conv_transpose2d(x, ts.ones(3, 2, 2, 2), stride=2, output_padding=1),
        (1, 3, 4, 4),
        ["aten::_convolution"],
    ),
    "general": (
        lambda x: ts.convolution(x, ts.ones(2, 3, 1, 1), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
        (1, 3, 4, 4),
        ["aten::_convolution"],
    ),
    "unbatched": (
        lambda x: ts.conv1d(x, ts.ones(2, 3, 2)),
        (3, 8),
        ["aten::unsqueeze", "aten::_convolution", "aten::squeeze"],
    ),
    "unbatched_transposed": (
        lambda x: ts.conv_transpose1d(x, ts.ones(3, 2, 2)),
        (3, 8),
        ["aten::unsqueeze", "aten::_convolution", "aten::squeeze"],
    ),
    "same": (
        lambda x: ts.conv2d(x, ts.ones(2, 3, 3, 3), padding="same"),
        (1, 3, 4, 4),
        ["aten::_convolution_mode"],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_traces_record_the_general_convolution(name: str) -> None:
    function, sizes, kinds = CALLS[name]
    x = ts.randn(sizes)
    traced = ts.jit.trace(function, (x,))
    assert _kinds(traced.graph) == kinds
    other = ts.randn(sizes)
    assert ts.equal(traced(other), function(other))


def test_sizes_in_arguments_are_recorded() -> None:
    def f(x: ts.Tensor) -> ts.Tensor:
        return ts.conv1d(x, ts.ones(2, 3, 2), None, 1, x.size(0))

    traced = ts.jit.trace(f, (ts.ones(1, 3, 8),))
    assert traced(ts.ones(2, 3, 8)).shape == (2, 2, 11)


def test_errors_are_those_of_the_operator() -> None:
    with pytest.raises(RuntimeError, match=r"Expected 2D \(unbatched\) or 3D \(batched\) input to conv1d"):
        ts.jit.trace(lambda x: ts.conv1d(x, ts.ones(2, 3, 2)), (ts.ones(8),))


def test_gradients_of_traced_convolutions() -> None:
    layer = ts.nn.Conv2d(3, 2, 2)
    x = ts.randn(1, 3, 4, 4, requires_grad=True)
    (expected,) = ts.autograd.grad(layer(x).square().sum(), x)
    (grad,) = ts.autograd.grad(ts.jit.trace(layer, (x,))(x).square().sum(), x)
    assert ts.allclose(grad, expected)


@pytest.mark.parametrize("transposed", [False, True])
def test_freezing_folds_batch_norm_into_traced_convolutions(transposed: bool) -> None:
    kind = ts.nn.ConvTranspose2d if transposed else ts.nn.Conv2d
    net = ts.nn.Sequential(kind(3, 3, 2), ts.nn.BatchNorm2d(3)).eval()
    net[1].running_mean.normal_()
    x = ts.randn(1, 3, 4, 4)
    frozen = ts.jit.optimize_for_inference(ts.jit.trace(net, (x,)))
    assert ("aten::batch_norm" in str(frozen.graph)) == transposed
    assert ts.allclose(frozen(x), net(x), atol=1e-6)


def test_inlined_graph_has_the_types_of_the_trace() -> None:
    net = ts.nn.Sequential(ts.nn.Linear(3, 2), ts.nn.ReLU())
    graph = str(ts.jit.trace(net, (ts.ones(4, 3),)).inlined_graph)
    assert "Float(4, 2, strides=[2, 1], requires_grad=1, device=cpu) = aten::linear" in graph
