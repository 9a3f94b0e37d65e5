"""`torch.fx` graphs: properties that tests/pytorch_parity/test_fx.py does not compare with PyTorch."""

import io
import pickle
import subprocess
import sys

import pytest

import ts
from ts import fx


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(3, 2)
        self.scale = ts.nn.Parameter(ts.ones(2) * 2)

    def forward(self, x):
        return ts.relu(self.linear(x)) * self.scale + 1


def test_import_is_lazy():
    """`ts.fx` is imported only on use."""
    code = "import sys, ts; ts.relu(ts.ones(1)); print([m for m in sys.modules if m.startswith('ts.fx')])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_code_and_result():
    net, x = Net(), ts.randn(4, 3)
    module = fx.symbolic_trace(net)
    assert module.code.split("\n")[3:] == [
        "def forward(self, x):",
        "    linear = self.linear(x);  x = None",
        "    relu = torch.relu(linear);  linear = None",
        "    scale = self.scale",
        "    mul = relu * scale;  relu = scale = None",
        "    add = mul + 1;  mul = None",
        "    return add",
        "    ",
    ]
    assert ts.equal(module(x), net(x))


def test_gradients_flow_through_generated_code():
    net = Net()
    module = fx.symbolic_trace(net)
    module(ts.ones(1, 3)).sum().backward()
    assert net.linear.weight.grad is not None and module.scale is net.scale


def test_targets_are_functions_of_ts():
    graph = fx.symbolic_trace(lambda x: (ts.relu(x), ts.linalg.norm(x), ts.nn.functional.linear(x, x))).graph
    targets = [n.target for n in graph.nodes if n.op == "call_function"]
    assert targets == [ts.relu, ts.linalg.norm, ts.nn.functional.linear]
    assert [ts._C._linalg.linalg_norm, ts._C._nn.linear] == targets[1:]


def test_names_in_code_resolve_to_their_functions():
    """Names in generated code resolve to the traced operators."""
    for space in (ts.linalg, ts.fft, ts.special, ts.nn.functional):
        for name in (n for n in dir(space) if not n.startswith("_")):
            function = getattr(space, name)
            if not isinstance(function, type(ts.relu)) or getattr(space, name) is None:
                continue
            found = ts
            for part in fx.node._get_qualified_name(function).split(".")[1:]:
                found = getattr(found, part)
            assert found is function, name


def test_pickles_and_folders_import_ts(tmp_path, monkeypatch):
    module = fx.symbolic_trace(Net())
    assert b"import ts as torch" in pickle.dumps(module)
    module.to_folder(tmp_path / "written")
    code = "import sys; sys.path.insert(0, '.'); from written import FxModule; import ts; FxModule()(ts.ones(1, 3)); print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_scripts_and_archives():
    module = fx.symbolic_trace(
        lambda x: (ts.linalg.norm(x), ts.nn.functional.gelu(x), ts.special.expit(x), ts.unique(x))
    )
    x = ts.tensor([1.0, 2.0, 2.0])
    file = io.BytesIO()
    ts.jit.save(ts.jit.script(module), file)
    file.seek(0)
    for ours, theirs in zip(ts.jit.load(file)(x), module(x), strict=True):
        assert ts.allclose(ours, theirs)


def test_scripted_modules_are_called():
    class Holder(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = ts.jit.script(ts.nn.ReLU())

        def forward(self, x):
            return self.inner(x)

    module = fx.symbolic_trace(Holder())
    assert [n.op for n in module.graph.nodes] == ["placeholder", "get_attr", "call_method", "output"]
    assert module(ts.tensor([-1.0, 1.0])).tolist() == [0, 1]


def test_asserts_are_traced():
    class Asserting(fx.Tracer):
        trace_asserts = True

    names = {}
    exec(
        "def f(x):\n    assert x.sum() > 0\n    return x\n", names
    )  # pytest rewrites `assert` statements in test files
    graph = Asserting().trace(names["f"])
    module = fx.GraphModule(ts.nn.Module(), graph)
    assert fx.proxy.assert_fn in [n.target for n in graph.nodes]
    with pytest.raises(AssertionError, match="Assertion failed"):
        module(-ts.ones(1))


def test_errors_show_generated_code(capsys):
    module = fx.symbolic_trace(lambda x, y: x + y)
    with pytest.raises(TypeError):
        module(ts.ones(2), object())
    message = capsys.readouterr().err
    assert "line 5 of the traced Module's generated forward function" in message and "<--- HERE" in message


def test_names_of_layers_and_of_the_package():
    graph = fx.Graph()
    x = graph.placeholder("x", type_expr=ts.Tensor)
    graph.call_function(ts.layer_norm, (x, (2,)))
    assert "torch.nn.functional.layer_norm" in str(graph) and "x : torch.Tensor" in str(graph)


def test_unsupported_functions():
    with pytest.raises(NotImplementedError, match=r"torch\.fx\.experimental\.proxy_tensor\.dispatch_trace is not implemented"):
        fx.experimental.proxy_tensor.dispatch_trace(lambda x: x)
    with pytest.raises(NotImplementedError, match=r"ts\.profiler"):
        fx.Graph().python_code("self", record_func=True)
    with pytest.raises(NotImplementedError, match="meta"):
        fx.passes.shape_prop.ShapeProp(fx.symbolic_trace(Net()), fake_mode=object())
    with pytest.raises(AttributeError):
        fx.no_such_name


def test_patches_are_undone():
    """Errors in a traced function and nested traces leave modules unpatched."""
    call, getattribute = ts.nn.Module.__call__, ts.nn.Module.__getattr__

    def outer(x):
        return fx.symbolic_trace(ts.nn.Linear(1, 1)) and x

    fx.symbolic_trace(outer)
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(lambda x: 1 if x else 2)
    assert ts.nn.Module.__call__ is call and ts.nn.Module.__getattr__ is getattribute
    assert not fx._symbolic_trace.is_fx_symbolic_tracing()


def test_many_nodes():
    """Tracing, copies and code generation do not recurse with the graph's length."""

    def f(x):
        for _ in range(3000):
            x = x + 1
        return x

    module = fx.symbolic_trace(f)
    assert float(fx.Interpreter(module).run(ts.zeros(()))) == 3000
    assert len(fx.Transformer(module).transform().graph.nodes) == 3002


class Index:
    """A non-tensor class with `__torch_function__`."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args)


def test_python_methods_dispatch_to_classes():
    x, index = ts.ones(2), Index()
    assert x[index] == ("__getitem__", 2) and x[index, 0] == ("__getitem__", 2)
    assert x.to(index) == ("to", 2) and x.to(dtype=index) == ("to", 1)
    x[index] = 3
    x[0] = index
    assert x.tolist() == [1, 1]
    for function in (ts.norm, ts.unique, ts.numel, ts.is_floating_point, ts.cdist):
        arguments = (index, index) if function is ts.cdist else (index,)
        assert function(*arguments) == (function.__name__, len(arguments))


def test_buffers_of_opaque_objects():
    module = ts.nn.Module()
    module.register_buffer("b", ts.ones(1))
    module.b = Index()
    assert isinstance(module.b, Index)
    with pytest.raises(TypeError, match="cannot assign 'int' as buffer 'b'"):
        module.b = 3


def test_math_functions_are_restored_after_a_trace():
    """A trace replaces functions of `math` temporarily; modules imported meanwhile keep the originals."""
    program = (
        "import math, ts, ts.fx\n"
        "class Net(ts.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return ts.jit.CompilationUnit('def f(x):\\n    return x + 1\\n').f(ts.ones(1)) + x\n"
        "ts.fx.symbolic_trace(Net())\n"
        "unit = ts.jit.CompilationUnit('def g(x: float) -> int:\\n    return math.ceil(x)\\n')\n"
        "assert unit.g(1.5) == 2\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("operands", [lambda x, y: (x, y), lambda x, y: [x, y]], ids=["tuple", "list"])
def test_einsum_of_a_sequence_has_its_operands_as_arguments(operands):
    """A sequence of einsum operands is traced as separate arguments, as in PyTorch, for passes over
    graphs."""
    traced = fx.symbolic_trace(lambda x, y: ts.einsum("ab,bc->ac", operands(x, y)))
    (call,) = [node for node in traced.graph.nodes if node.op == "call_function"]
    assert [str(a) for a in call.args] == ["ab,bc->ac", "x", "y"] and not call.kwargs
    x, y = ts.rand(2, 3), ts.rand(3, 2)
    assert ts.equal(traced(x, y), ts.einsum("ab,bc->ac", x, y))
