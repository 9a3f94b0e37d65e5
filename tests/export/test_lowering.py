"""Exported programs as graphs of the compiler: the same results, bit by bit, as the graph's own Python code gives."""

import re

import pytest

import ts
from tests.export.one_operator import PROGRAMS, module_of, programs

pytest.importorskip("sympy")
from ts.export.lowering import Unsupported, lowered

DRAWN = re.compile("rand|dropout|rrelu|bernoulli|multinomial|empty|cov")
BY_PYTHON = {"1-x", "x.logit()", "x+torch.linspace(0,1,3)"}  # numbers in the place of first operands that are tensors


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", PROGRAMS)
def test_programs(family):
    for text, shapes in programs(family):
        if DRAWN.search(text):
            continue
        args = tuple(ts.rand(shape) for shape in shapes)
        program = ts.export.export(module_of(text, len(shapes), ts), args)
        run = lowered(program.graph_module)
        ours, plain = ([x.clone() for x in args] for _ in range(2))
        state = program._lifted()
        found, wanted = run(*state, *ours), list(program.graph_module(*state, *plain))
        ts.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True, msg=text)
        ts.testing.assert_close(ours, plain, rtol=0, atol=0, msg=text)


@pytest.mark.parametrize("text", sorted(BY_PYTHON))
def test_what_the_compiler_has_no_form_for(text):
    x = ts.rand(3)
    program = ts.export.export(module_of(text, 1, ts), (x,)).run_decompositions()
    with pytest.raises(Unsupported):
        lowered(program.graph_module)
    module = program.module()
    assert ts.equal(module(x), module(x)) and ts.equal(module(x), module(x))


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(4, 4)
        self.register_buffer("calls", ts.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        for _ in range(3):
            x = ts.tanh(self.linear(x)) + x.shape[0]
        return {"out": x, "calls": self.calls.clone(), "n": x.shape[0] * 2}


def test_from_the_second_call_on():
    net, x = Net(), ts.rand(5, 4)
    program = ts.export.export(net, (x,), dynamic_shapes={"x": {0: ts.export.Dim("n", min=2)}})
    module = program.module()
    results = [module(x) for _ in range(3)]
    assert module._runner.compiled is not None
    assert [r["calls"].item() for r in results] == [1, 2, 3]
    assert [r["n"] for r in results] == [10] * 3
    assert ts.equal(results[0]["out"], results[1]["out"]) and ts.equal(results[1]["out"], results[2]["out"])
    assert module(ts.rand(7, 4))["n"] == 14
    gradients = []
    for run in (net, module):
        net.linear.zero_grad()
        run(x)["out"].sum().backward()
        gradients.append(net.linear.weight.grad.clone())
    ts.testing.assert_close(*gradients)
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[1\] == 4"):
        module(ts.rand(5, 3))


def test_a_graph_that_was_edited_runs_as_it_is_now():
    x = ts.rand(3)
    program = ts.export.export(module_of("x.sin()*2", 1, ts), (x,))
    module = program.module()
    module(x), module(x)
    for node in program.graph.nodes:
        if str(node.target) == "aten.sin.default":
            node.target = ts.ops.aten.cos.default
    program.graph_module.recompile()
    for _ in range(3):
        ts.testing.assert_close(module(x), x.cos() * 2)
