"""Differentiable graphs of single operators equal PyTorch's (`_debug_set_autodiff_subgraph_inlining(False)`)."""

import warnings

import pytest

import ts

torch = pytest.importorskip("torch")

EXPRESSIONS = """
x * x | x + 2.0 | x.relu() | x.tanh() | x.fmod(2.0) | x.fmod(x) | x.remainder(2.0) | x.pow(2.0) | 2.0 ** x
x.norm() | x.sort()[0] | x.kthvalue(1)[0] | x.diagonal() | x.cumsum(0) | x.prod() | x.index_select(0, i)
x.gather(0, i.unsqueeze(0)) | x.atan2(x) | x.lgamma() | x.sign() | x.var() | x.std(0) | x.mean() | x.logsumexp(0)
x.softmax(0) | x.log_softmax(0) | x.mm(x) | x.matmul(x) | torch.stack([x, x]) | x.tril() | x.flip(0)
x.sigmoid() | x.trunc() | torch.max(x, x) | x.max(0)[0] | x.median() | x.cumprod(0) | x.renorm(2, 0, 1.0)
x.logit() | x.erfinv() | x.digamma() | x.addcmul(x, x) | x.addcdiv(x, x) | x.where(x > 0, x * 2) | x.type_as(x)
""".replace("\n", " | ").strip(" |").split(" | ")


@pytest.fixture(autouse=True)
def single_operators():
    torch._C._debug_set_autodiff_subgraph_inlining(False)
    ts._C._debug_set_autodiff_subgraph_inlining(False)
    yield
    torch._C._debug_set_autodiff_subgraph_inlining(True)
    ts._C._debug_set_autodiff_subgraph_inlining(True)


def has_graph(lib, expression):
    unit = lib.jit.CompilationUnit(f"def f(x: Tensor, i: Tensor):\n    return {expression}\n")
    x = lib.rand(3, 3).requires_grad_()
    i = lib.zeros(3, dtype=lib.int64)
    with lib.enable_grad():
        for _ in range(3):
            unit.f(x, i)
    if lib is torch:
        return "prim::DifferentiableGraph" in str(torch.jit.last_executed_optimized_graph())
    return "prim::DifferentiableGraph" in str(unit.f.graph_for(x, i))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_differentiable_graphs_equal_pytorch(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert has_graph(ts, expression) == has_graph(torch, expression)
