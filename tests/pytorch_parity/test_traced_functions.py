"""Nodes of `autograd.Function` calls in traces have PyTorch's attributes."""

import pytest
import torch

import ts


def nodes(library, grad, is_dirty):
    """Return the attributes of the function nodes in a trace of a function with two results."""

    class Pair(library.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            if is_dirty:
                ctx.mark_dirty(y)
                return x + y, y.mul_(2)
            return x + y, y * 2

        @staticmethod
        def backward(ctx, first, second):
            return first, first + second

    def call(x):
        a, b = Pair.apply(x, x * 3)
        return a + b

    graph, _ = library.jit._get_trace_graph(call, (library.ones(2, requires_grad=grad),), _force_outplace=False)
    found = [node for node in graph.nodes() if node.kind() == "prim::PythonOp"]
    return [(node.attributeNames(), node.i("inplace"), node.s("module")) for node in found]


@pytest.mark.parametrize("is_dirty", [False, True])
@pytest.mark.parametrize("grad", [False, True])
def test_function_that_marks_an_input_dirty(grad, is_dirty):
    ours = nodes(ts, grad, is_dirty)
    assert ours == nodes(torch, grad, is_dirty)
    assert [inplace for _, inplace, _ in ours] == [int(is_dirty)]
