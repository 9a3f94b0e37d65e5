"""Graphs and code that the executor runs."""

import gc
import weakref

import pytest

import ts


def looped(x, y, n: int = 3):
    for i in range(n):
        x = x @ y + i
    z = x.sum(0) if n > 2 else x
    return z.relu(), x


def test_graph_for_has_the_types_of_the_arguments():
    """Types in the graph have dtype, rank, device and `requires_grad`, also in branches, but no sizes."""
    f = ts.jit.script(looped)
    text = str(f.graph_for(ts.ones(2, 3), y=ts.ones(3, 3)))
    assert text.count("Float(*, *, requires_grad=0, device=cpu)") == 7
    assert "Float(*, requires_grad=0, device=cpu) = aten::sum" in text
    assert "FloatTensor(requires_grad=0, device=cpu) = aten::relu" in text
    assert "Double(*, *, requires_grad=0, device=cpu) = aten::matmul" in str(
        f.graph_for(ts.ones(2, 3).double(), ts.ones(3, 3).double())
    )
    assert "Float" not in str(f.graph)


def test_graph_for_of_modules_has_the_types_of_parameters():
    """Attributes have the types of the module's values if the program does not assign to them."""

    class Counting(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = ts.nn.Parameter(ts.ones(3))
            self.steps = ts.zeros(1)

        def forward(self, x):
            self.steps = self.steps.double()
            return x * self.weight, self.steps + 1

    counting = ts.jit.script(Counting())
    text = str(counting.graph_for(ts.ones(2, 3)))
    assert '%weight : Float(*, requires_grad=1, device=cpu) = prim::GetAttr[name="weight"]' in text
    with ts.no_grad():
        text = str(counting.graph_for(ts.ones(2, 3)))
    assert '%weight : Float(*, device=cpu) = prim::GetAttr[name="weight"]' in text
    assert "Float(*, *, device=cpu) = aten::mul" in text
    assert '%steps.1 : Tensor = prim::GetAttr[name="steps"]' in text


def test_graph_for_binds_arguments_as_a_call():
    with pytest.raises(RuntimeError, match="missing value for argument"):
        ts.jit.script(looped).graph_for(ts.ones(2, 3))


def test_graph_for_without_optimisation():
    """Without optimization, `graph_for` returns the graph of the frontend."""
    f = ts.jit.CompilationUnit("def f(x: int):\n  y = x * 1\n  return y\n").f
    assert "aten::mul" not in str(f.graph_for(1))
    with ts.jit.optimized_execution(False):
        assert "aten::mul" in str(f.graph_for(1))


CALLS = """
def inner(x):
    return (x * 2 + 1).tanh()

def outer(x, deep: int) -> Tensor:
    if deep > 0:
        return outer(x, deep - 1)
    return inner(x) + torch.jit.wait(torch.jit.fork(inner, x))
"""


def called_by(code):
    """Return a code and the codes that it calls, recursively."""
    codes = [code]
    for each in codes:
        codes += [f.available_code for f in each.functions if f.available_code is not None and f.available_code not in codes]
    return codes


def has_groups(function):
    codes = called_by(function.compiled_code)
    return any(operator.name == "prim::FusionGroup" for code in codes for operator in code.operators)


def calls():
    return ts.jit.CompilationUnit(CALLS).outer


@pytest.mark.parametrize("warm", [False, True])
def test_optimized_execution_applies_to_callees(warm):
    """`optimized_execution` applies to compiled and new functions and their callees until the end of the
    block."""
    f, x = calls(), ts.rand(5)
    if warm:
        f(x, 1)
        assert has_groups(f)
    with ts.jit.optimized_execution(False):
        result = f(x, deep=1)
        assert not has_groups(f) and len(called_by(f.compiled_code)) == 3
        with ts.jit.optimized_execution(True):
            assert ts.equal(f(x, 1), result)
            assert has_groups(f)
        assert not has_groups(f)
        plain = f.compiled_code
    assert ts.equal(f(x, 1), result)
    assert has_groups(f)
    with ts.jit.optimized_execution(False):
        assert f.compiled_code is plain  # compiled once


def test_optimized_execution_of_methods():
    """`optimized_execution` applies to methods of modules and calls through interfaces."""

    @ts.jit.interface
    class Layer:
        def run(self, x: ts.Tensor) -> ts.Tensor:
            pass

    class Fused(ts.nn.Module):
        def run(self, x: ts.Tensor) -> ts.Tensor:
            return (x * 2 + 1).tanh()

    class Model(ts.nn.Module):
        layer: Layer

        def __init__(self):
            super().__init__()
            self.layer = Fused()

        def forward(self, x):
            return self.layer.run(x)

    model, x = ts.jit.script(Model()), ts.rand(3)
    result = model(x)
    run = model.layer.run.function
    with ts.jit.optimized_execution(False):
        assert ts.equal(model(x), result)
        assert run.without_optimisation().available_code is run.compiled_code
        assert not has_groups(run)
    assert has_groups(run)


def test_optimized_execution_in_python_functions_called_by_scripts():
    """`optimized_execution` in a Python function that a script calls applies to this function's calls."""
    inner, seen = calls(), []

    @ts.jit.ignore
    def call_unoptimized(x: ts.Tensor) -> ts.Tensor:
        with ts.jit.optimized_execution(False):
            seen.append(has_groups(inner))
            return inner(x, 0)

    f = ts.jit.script(function_calling(call_unoptimized))
    assert ts.equal(f(ts.ones(2)), inner(ts.ones(2), 0) * 2 + 1)
    assert seen == [False] and has_groups(f) and has_groups(inner)


def function_calling(call_unoptimized):
    def f(x):
        return call_unoptimized(x) * 2 + 1

    return f


def test_optimized_execution_off_has_the_same_source_locations():
    f = ts.jit.CompilationUnit("def f(xs: List[int], n: int):\n  return xs[n] + 1 * 1\n").f
    with pytest.raises(RuntimeError) as first:
        f([1], 3)
    with ts.jit.optimized_execution(False), pytest.raises(RuntimeError) as second:
        f([1], 3)
    assert str(first.value) == str(second.value)
    with ts.jit.optimized_execution(False), pytest.raises(RuntimeError, match=r"f\(\) is missing value"):
        f([1])


def test_unoptimized_code_is_released_with_its_function():
    f = ts.jit.CompilationUnit("def f(x, n: int) -> Tensor:\n  return f(x, n - 1) if n else x + 1\n").f
    with ts.jit.optimized_execution(False):
        f(ts.ones(2), 1)
    reference = weakref.ref(f)
    del f
    gc.collect()
    assert reference() is None


def test_last_executed_graph_of_specializations():
    """`last_executed_optimized_graph` returns the graph that ran, independent of later settings."""
    f = ts.jit.CompilationUnit("def f(x: int):\n  y = x * 1\n  return y\n").f
    with ts.jit.optimized_execution(False):
        f(1)
    assert "aten::mul" in str(ts.jit.last_executed_optimized_graph())
    f(1)
    with ts.jit.optimized_execution(False):
        assert "aten::mul" not in str(ts.jit.last_executed_optimized_graph())


def test_the_last_executed_graph():
    """`last_executed_optimized_graph` is the graph of the last call, or None if it was released."""
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
    """Setting returns the previous value; invalid values raise and change nothing."""
    before = ts.jit.set_fusion_strategy([("STATIC", 3), ("DYNAMIC", 1)])
    try:
        with pytest.raises(ValueError, match="must be 'STATIC' or 'DYNAMIC', found 'static'"):
            ts.jit.set_fusion_strategy([("static", 1)])
        with pytest.raises(TypeError, match="number of plans"):
            ts.jit.set_fusion_strategy([("STATIC", "1")])
        for wrong in ("STATIC", None, 3, ("STATIC", 2), [("STATIC",)], {"STATIC": 1}, [(1, "STATIC")], [("STATIC", -1)]):
            with pytest.raises(TypeError, match="a fusion strategy"):
                ts.jit.set_fusion_strategy(wrong)
    finally:
        assert ts.jit.set_fusion_strategy(before) == [("STATIC", 3), ("DYNAMIC", 1)]
    assert before == [("STATIC", 2), ("DYNAMIC", 10)]


def test_constant_arguments_keep_their_types_when_calls_are_inlined():
    """Constant arguments of inlined calls keep their types; 1 and True are separate constants."""
    unit = ts.jit.CompilationUnit("""
def filled(n: Optional[int], device: Optional[Device] = None) -> Tensor:
    count = 100 if n is None else n
    return torch.full([count], 3, device=device)

def kind(x: Union[int, bool]) -> str:
    return "int" if isinstance(x, int) else "bool"

def on_device() -> Tensor:
    return filled(2, torch.device("cpu"))

def kinds() -> Tuple[str, str]:
    return kind(1), kind(True)
""")
    assert unit.on_device().tolist() == [3, 3]
    assert unit.kinds() == ("int", "bool")


def test_debug_state():
    """The debug state of a function or module has one execution plan, whose code has no bailouts."""
    scripted = ts.jit.script(ts.nn.ReLU())
    for owner in (scripted, scripted.forward):
        state = owner.get_debug_state()
        (plan,) = state.execution_plans.values()
        assert str(plan.graph) == str(state.graph) and "aten::relu" in str(plan.graph)
        assert plan.code.num_bailouts() == 0
        with pytest.raises(IndexError, match="invalid bailout index 0"):
            plan.code.request_bailout(0)
