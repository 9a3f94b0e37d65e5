"""`ts._C`: names of PyTorch's private module that programs use to inspect graphs."""

import io
import sys

import pytest

import ts
from ts.passes import pass_logging

TEXT = """graph(%x : Tensor, %n : int):
  %1 : int = prim::Constant[value=1]()
  %a : Tensor = aten::add(%x, %x, %1)
  %b : Tensor = aten::add(%x, %x, %1)
  %c : Tensor = aten::mul(%a, %b)
  return (%c)
"""
PASSES = [name for name in dir(ts._C) if name.startswith("_jit_pass_")]


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in PASSES
        if n.split("pass_")[1]
        not in ("complete_shape_analysis", "canonicalize", "custom_pattern_based_rewrite", "custom_pattern_based_rewrite_graph")
    ],
)
def test_every_pass_takes_a_graph(name):
    """Passes of `ts._C` leave a valid graph and return True if they changed it."""
    graph = ts._C.parse_ir(TEXT)
    before = str(graph)
    changed = getattr(ts._C, name)(graph)
    graph.lint()
    assert isinstance(changed, bool)
    assert changed or str(graph) == before


def test_options():
    text = (
        TEXT.replace("%x : Tensor", "%x : Float(2, 3)")
        .replace("aten::mul(%a, %b)", "aten::size(%x, %1)")
        .replace("%c : Tensor", "%c : int")
    )
    graph = ts._C.parse_ir(text)
    ts._C._jit_pass_peephole(graph, disable_shape_peepholes=True)
    assert "aten::size" in str(graph)
    ts._C._jit_pass_peephole(graph, False)
    assert "aten::size" not in str(graph)


def test_passes_are_logged_and_limited():
    """Passes called through `ts._C` are logged and limited by the name of the pass's file."""
    stream = io.StringIO()
    pass_logging.configure("cse", "cse=0", stream)
    try:
        graph = ts._C.parse_ir(TEXT)
        assert not ts._C._jit_pass_cse(graph)
        assert "[DUMP cse] After eliminate_common_subexpressions:" in stream.getvalue()
    finally:
        pass_logging.configure()
    assert ts._C._jit_pass_cse(graph)


def test_rewriting_by_patterns():
    graph = ts._C.parse_ir(TEXT)
    pattern, other = (
        f"graph(%a, %b, %c):\n  %r = aten::{name}(%a, %b, %c)\n  return (%r)" for name in ("add", "sub")
    )
    ts._C._jit_pass_custom_pattern_based_rewrite_graph(pattern, other, graph)
    assert str(graph).count("aten::sub") == 2


def test_executor_switches():
    assert ts._C._get_graph_executor_optimize()
    with ts.jit.optimized_execution(False):
        assert not ts._C._get_graph_executor_optimize()
        ts._C._set_graph_executor_optimize(True)
        assert ts._C._get_graph_executor_optimize()
    assert ts._C._get_graph_executor_optimize()


def test_missing_and_unsupported_names():
    with pytest.raises(AttributeError, match=r"module 'ts\._C' has no attribute '_jit_pass_onyx'"):
        ts._C._jit_pass_onyx
    with pytest.raises(NotImplementedError, match=r"torch\._C\._jit_pass_onnx is not implemented in ts"):
        ts._C._jit_pass_onnx(None, None)


def test_scripts_reach_operators_under_private_names():
    """Scripts can call operators by private names such as `ts._C._nn.gelu`."""

    @ts.jit.script
    def f(x):
        return ts._C._nn.gelu(x)

    assert f(ts.zeros(1)).item() == 0.0


def state(seen):
    """Return a function that appends the state reported by PyTorch's private functions to `seen`."""

    def record(x):
        traced = ts._C._is_tracing(), ts._C._get_tracing_state() is not None
        seen.append((*traced, ts._C._are_functorch_transforms_active(), ts._C._len_torch_function_stack()))
        return x * 2

    return record


def with_device(function, x):
    with ts.device("meta"):
        function(x)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda f, x: f(x), (False, False, False, 0)),
        (lambda f, x: ts.jit.trace(f, x, check_trace=False), (True, True, False, 0)),
        (lambda f, x: ts.vmap(f)(x), (False, False, True, 0)),
        (lambda f, x: ts.func.grad(lambda y: f(y).sum())(x), (False, False, True, 0)),
        (lambda f, x: ts.func.jvp(f, (x,), (x,)), (False, False, True, 0)),
        (with_device, (False, False, False, 1)),
    ],
)
def test_state_of_the_thread(run, expected):
    seen = []
    run(state(seen), ts.ones(2))
    assert seen[0] == expected


@pytest.mark.parametrize("name", ["_nn", "_linalg", "_fft", "_special"])
def test_modules_of_operators_are_imported_by_access(name):
    """Operator modules of `ts._C` are imported on access, and unknown names raise AttributeError."""
    module = getattr(ts._C, name)
    assert sys.modules[f"ts._C.{name}"] is module
    assert not hasattr(module, "_name")


def test_functions_with_the_names_of_their_modules():
    """`from torch.nn.utils.weight_norm import weight_norm` imports the function, not the module."""
    from ts.nn.utils.weight_norm import weight_norm

    assert weight_norm is ts.nn.utils.weight_norm
    assert weight_norm(ts.nn.Linear(2, 2)).weight_g.shape == (2, 1)


def test_private_functions_of_initialization():
    """Private functions of `ts.nn.init` equal PyTorch's."""
    init, x = ts.nn.init, ts.nn.Parameter(ts.ones(3, 4, 5))
    assert (init._calculate_correct_fan(x, "fan_in"), init._calculate_correct_fan(x, "FAN_OUT")) == (20, 15)
    with pytest.raises(ValueError, match=r"Mode x not supported, please use one of \['fan_in', 'fan_out'\]"):
        init._calculate_correct_fan(x, "x")
    assert init._no_grad_fill_(x, 2.0) is x and x[0, 0, 0].item() == 2
    init._no_grad_zero_(x)
    assert x.sum().item() == 0
    assert init._no_grad_uniform_(x, 1.0, 2.0).min().item() >= 1
    assert init._no_grad_trunc_normal_(x, 0.0, 1.0, -0.5, 0.5).abs().max().item() <= 0.5


def test_parse_ir_numbers_the_results():
    """`ts._C.parse_ir` discards names of results and source locations, which `ts.parse_ir` keeps."""
    text = "graph(%x.1 : Tensor, %9 : int):\n  %y : Tensor = aten::relu(%x.1) # a.py:1:2\n  return (%y)\n"
    expected = "graph(%x.1 : Tensor,\n      %1 : int):\n  %2 : Tensor = aten::relu(%x.1)\n  return (%2)\n"
    assert str(ts._C.parse_ir(text)) == expected
    assert "%y : Tensor = aten::relu(%x.1) # a.py:1:2" in str(ts.parse_ir(text))
