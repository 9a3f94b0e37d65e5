"""Merging of linear layers with a common input in frozen graphs."""

import pytest

import ts
from ts.passes.freezing.concat_frozen_linear import concat_frozen_linear


class Layers(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = ts.nn.Linear(4, 3), ts.nn.Linear(4, 5)
        self.without_bias, self.other = ts.nn.Linear(4, 2, bias=False), ts.nn.Linear(3, 2)

    def forward(self, x, again: bool):
        y = self.a(x)
        z = self.b(x)
        if again:
            z = self.b(x + 1) + self.b(x + 1)
        return y, z.relu(), self.without_bias(x), self.other(y)


class Writes(Layers):
    def forward(self, x, again: bool):
        y = self.a(x)
        x.add_(1)
        return y, self.b(x)


def frozen(kind):
    return ts.jit.freeze(ts.jit.script(kind().eval()), optimize_numerics=False)


def kinds(graph):
    return [node.kind() for node in graph.all_nodes()]


def test_layers_of_one_input_become_one():
    """Linear layers with one input are merged with concatenated weights; each result is a slice with equal
    values."""
    module = frozen(Layers)
    graph = module.graph
    before = kinds(graph).count("aten::linear")
    assert concat_frozen_linear(graph, everywhere=True)
    ts.ir.verifier.verify(graph)
    assert kinds(graph).count("aten::linear") == before - 1 and kinds(graph).count("aten::slice") == 2
    assert not concat_frozen_linear(graph, everywhere=True)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("shape", [(4,), (2, 4), (2, 3, 4), (0, 4)])
def test_results_are_the_same_but_for_rounding(again, shape):
    module, x = frozen(Layers), ts.randn(shape)
    expected = module(x, again)
    graph = module.graph.copy()
    concat_frozen_linear(graph, everywhere=True)
    result = ts.jit.create_function_from_graph("f", graph)(module._c if hasattr(module, "_c") else module, x, again)
    for a, b in zip(result, expected, strict=True):
        assert a.shape == b.shape and ts.allclose(a, b, rtol=1e-5, atol=1e-6)


def test_written_weights_are_not_merged():
    graph = frozen(Writes).graph
    text = str(graph)
    assert not concat_frozen_linear(graph, everywhere=True) and str(graph) == text


def test_cpu_graphs_are_unchanged():
    """`_jit_pass_concat_frozen_linear` leaves CPU graphs unchanged, as in PyTorch."""
    graph = frozen(Layers).graph
    assert not ts._C._jit_pass_concat_frozen_linear(graph)
