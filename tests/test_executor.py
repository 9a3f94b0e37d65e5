"""What runs, as the executor shows it."""

import gc

import pytest

import ts


def looped(x, y, n: int = 3):
    for i in range(n):
        x = x @ y + i
    z = x.sum(0) if n > 2 else x
    return z.relu(), x


def test_graph_for_has_the_types_of_the_arguments():
    """dtype, rank, device and gradients, through loops and branches; lengths are those of any call."""
    f = ts.jit.script(looped)
    text = str(f.graph_for(ts.ones(2, 3), y=ts.ones(3, 3)))
    assert text.count("Float(*, *, requires_grad=0, device=cpu)") == 6
    assert "Float(*, requires_grad=0, device=cpu) = aten::sum" in text
    assert "FloatTensor(requires_grad=0, device=cpu) = aten::relu" in text
    assert "Double(*, *, requires_grad=0, device=cpu) = aten::matmul" in str(
        f.graph_for(ts.ones(2, 3).double(), ts.ones(3, 3).double())
    )
    assert "Float" not in str(f.graph)


def test_graph_for_of_modules_has_the_types_of_parameters():
    """An attribute has the type of what the module holds, unless the program assigns to it."""

    class Counting(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = ts.nn.Parameter(ts.ones(3))
            self.steps = ts.zeros(1)

        def forward(self, x):
            self.steps = self.steps.double()
            return x * self.weight, self.steps + 1

    text = str(ts.jit.script(Counting()).graph_for(ts.ones(2, 3)))
    assert '%weight : Float(*, device=cpu) = prim::GetAttr[name="weight"]' in text
    assert "Float(*, *, device=cpu) = aten::mul" in text
    assert '%steps.1 : Tensor = prim::GetAttr[name="steps"]' in text


def test_graph_for_binds_arguments_as_a_call():
    with pytest.raises(RuntimeError, match="missing value for argument"):
        ts.jit.script(looped).graph_for(ts.ones(2, 3))


def test_graph_for_without_optimisation():
    """What runs then is what the frontend made."""
    f = ts.jit.CompilationUnit("def f(x: int):\n  y = x * 1\n  return y\n").f
    assert "aten::mul" not in str(f.graph_for(1))
    with ts.jit.optimized_execution(False):
        assert "aten::mul" in str(f.graph_for(1))


def test_the_last_executed_graph():
    """It is that of the function which Python called last, as long as that is there."""
    unit = ts.jit.CompilationUnit("def f(x):\n  return x.neg()\n\ndef g(x):\n  return x.exp()\n")
    unit.f(ts.ones(1))
    unit.g(ts.ones(1))
    assert "aten::exp" in str(ts.jit.last_executed_optimized_graph())
    unit.f(ts.ones(1))
    assert "aten::neg" in str(ts.jit.last_executed_optimized_graph())
    del unit
    gc.collect()
    assert ts.jit.last_executed_optimized_graph() is None


def test_fusion_strategy():
    """Setting gives what was set before; what is none is refused and changes nothing."""
    before = ts.jit.set_fusion_strategy([("STATIC", 3), ("DYNAMIC", 1)])
    try:
        with pytest.raises(ValueError, match="'STATIC' and 'DYNAMIC', but this one has 'static'"):
            ts.jit.set_fusion_strategy([("static", 1)])
        with pytest.raises(TypeError, match="count of plans"):
            ts.jit.set_fusion_strategy([("STATIC", "1")])
    finally:
        assert ts.jit.set_fusion_strategy(before) == [("STATIC", 3), ("DYNAMIC", 1)]
    assert before == [("STATIC", 2), ("DYNAMIC", 10)]
