"""`ExportedProgram.module()`: a module with a separate graph and with state as attributes."""

import copy
import inspect
import pickle

import pytest

import ts

pytest.importorskip("sympy")
from ts import nn
from ts.export import Dim, export
from ts.nn import functional as F
from ts.testing import assert_close


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(4, 3)
        self.register_buffer("calls", ts.zeros(3))
        self.register_buffer("hidden", ts.ones(3), persistent=False)
        self.constant = ts.full((3,), 2.0)

    def forward(self, x, *, scale=1):
        self.calls.add_(1)
        y = self.linear(x) + self.calls + self.hidden + self.constant
        return {"y": y, "scale": scale}


def exported(net=None):
    return export(
        net or Net(), (ts.ones(5, 4),), {"scale": 3}, dynamic_shapes={"x": {0: Dim("n")}, "scale": None}
    )


CODE = """


def forward(self, x, scale):
    x, scale, = fx_pytree.tree_flatten_spec(([x], {'scale':scale}), self._in_spec)
    linear_weight = self.linear.weight
    linear_bias = self.linear.bias
    calls = self.calls
    hidden = self.hidden
    constant = self.constant
    _guards_fn = self._guards_fn(x, scale);  scale = _guards_fn = None
    add_ = torch.ops.aten.add_.Tensor(calls, 1);  calls = None
    linear = torch.ops.aten.linear.default(x, linear_weight, linear_bias);  x = linear_weight = linear_bias = None
    add = torch.ops.aten.add.Tensor(linear, add_);  linear = add_ = None
    add_1 = torch.ops.aten.add.Tensor(add, hidden);  add = hidden = None
    add_2 = torch.ops.aten.add.Tensor(add_1, constant);  add_1 = constant = None
    return pytree.tree_unflatten((add_2, 3), self._out_spec)
    """


def test_code():
    module = exported().module()
    assert module.code == CODE
    assert isinstance(module, ts.fx.GraphModule)
    assert list(inspect.signature(module.forward).parameters) == ["x", "scale"]


def test_state():
    net = Net()
    module = exported(net).module()
    assert sorted(module.state_dict()) == ["calls", "linear.bias", "linear.weight"]
    assert sorted(n for n, _ in module.named_buffers()) == ["calls", "hidden"]
    assert module.linear.weight is net.linear.weight
    assert module.constant is net.constant
    assert [name for name, _ in module.named_children()] == ["linear", "_guards_fn"]


@pytest.mark.parametrize("calls", [0, 1, 2, 3])
def test_state_that_is_replaced(calls):
    module, x = exported().module(), ts.rand(2, 4)
    for _ in range(calls):
        module(x, scale=3)
    module.calls.zero_()
    module.linear.weight = ts.nn.Parameter(ts.zeros(3, 4))
    module.constant = ts.zeros(3)
    with ts.no_grad():
        ts.testing.assert_close(module(x, scale=3)["y"], (module.linear.bias + 2).expand(2, 3))
    replaced = ts.nn.Linear(4, 3)
    module.linear = replaced
    ts.testing.assert_close(module(x, scale=3)["y"], replaced(x) + 3)
    del module.linear
    with pytest.raises(AttributeError, match="linear"):
        module(x, scale=3)


def test_editing_the_module_keeps_the_program():
    program = exported()
    module, before = program.module(), str(program.graph)
    for node in module.graph.nodes:
        if str(node.target) == "aten.linear.default":
            with module.graph.inserting_after(node):
                new_node = module.graph.call_function(ts.ops.aten.relu.default, (node,))
            node.replace_all_uses_with(new_node, delete_user_cb=lambda user, new_node=new_node: user is not new_node)
    module.recompile()
    assert "relu" in module.code and "relu" not in program.module().code
    assert str(program.graph) == before
    x = ts.randn(3, 4)
    for _ in range(3):
        wanted = F.linear(x, module.linear.weight, module.linear.bias).relu() + module.calls + 1 + 3
        ts.testing.assert_close(module(x, scale=3)["y"], wanted)


def test_unsupported_nodes_run_in_python():
    """Nodes without a compiled form, such as a user module or a Python function, run in an exported
    module."""
    module = exported().module()
    module.extra = ts.nn.Tanh()
    (linear,) = (n for n in module.graph.nodes if str(n.target) == "aten.linear.default")
    with module.graph.inserting_after(linear):
        new_node = module.graph.call_module("extra", (linear,))
    linear.replace_all_uses_with(new_node, delete_user_cb=lambda user: user is not new_node)
    module.recompile()
    x = ts.randn(3, 4)
    for _ in range(3):
        wanted = F.linear(x, module.linear.weight, module.linear.bias).tanh() + module.calls + 1 + 3
        ts.testing.assert_close(module(x, scale=3)["y"], wanted)


def test_without_guards():
    module = exported().module(check_guards=False)
    assert "_guards_fn" not in module.code
    for _ in range(3):
        assert module(ts.ones(2, 4), scale=4)["scale"] == 3


def test_erased_guards():
    module = exported().module()
    with pytest.raises(AssertionError, match="Guard failed: scale == 3"):
        module(ts.ones(2, 4), scale=4)
    (node,) = module.graph.find_nodes(op="call_module", target="_guards_fn")
    module.graph.eliminate_dead_code()
    assert node in list(module.graph.nodes)
    module.graph.erase_node(node)
    module.recompile()
    for _ in range(3):
        assert module(ts.ones(2, 4), scale=4)["scale"] == 3


@pytest.mark.parametrize("calls", [0, 2])
def test_copies(calls):
    module, x = exported().module(), ts.rand(2, 4)
    for _ in range(calls):
        module(x, scale=3)
    copied = copy.deepcopy(module)
    assert copied.code == module.code and sorted(copied.state_dict()) == sorted(module.state_dict())
    assert copied.constant is not module.constant and ts.equal(copied.constant, module.constant)
    for _ in range(3):
        ts.testing.assert_close(copied(x, scale=3)["y"], module(x, scale=3)["y"])
    with ts.no_grad():
        copied.linear.weight.zero_()
    assert not ts.equal(copied(x, scale=3)["y"], module(x, scale=3)["y"])


def test_modes_and_pickles():
    module = exported().module()
    for change in (module.train, module.eval):
        with pytest.raises(
            NotImplementedError, match=rf"Calling {change.__name__}\(\) is not supported yet."
        ):
            change()
    with pytest.raises(TypeError, match=r"ts\.export\.save"):
        pickle.dumps(module)


def test_symbolic_trace_and_interpreter():
    module, x = exported().module(), ts.rand(5, 4)
    traced = ts.fx.symbolic_trace(export(ts.nn.Linear(4, 3), (x,)).module())
    assert "_guards_fn" in traced.code and traced(x).shape == (5, 3)
    module.calls.zero_()
    wanted = module(x, scale=3)["y"]
    module.calls.zero_()
    ts.testing.assert_close(ts.fx.Interpreter(module).run(x, 3)["y"], wanted)


class Chooses(ts.nn.Module):
    def forward(self, x):
        return ts.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


def test_branch_graphs_are_copied():
    program = export(Chooses(), (ts.ones(3),))
    module = program.module()
    assert module.true_graph_0 is not program.graph_module.true_graph_0
    module(ts.ones(3))
    for node in module.true_graph_0.graph.nodes:
        if node.op == "call_function":
            node.target = ts.ops.aten.exp.default
    module.true_graph_0.recompile()
    module.recompile()
    for _ in range(3):
        ts.testing.assert_close(module(ts.ones(3)), ts.ones(3).exp())
        ts.testing.assert_close(program.module()(ts.ones(3)), ts.ones(3).sin())
        ts.testing.assert_close(module(-ts.ones(3)), ts.ones(3).cos())


class Swaps(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", ts.zeros(2))
        self.register_buffer("b", ts.ones(2))
        self.weight = ts.nn.Parameter(ts.ones(2))

    def forward(self, x):
        a, b = self.a.clone(), self.b.clone()
        self.a.copy_(b)
        self.b.copy_(a)
        with ts.no_grad():
            self.weight.mul_(2)
        return x + self.a


def test_buffers_are_written_at_the_end():
    module = export(Swaps(), (ts.ones(2),)).run_decompositions().module()
    for k in range(1, 5):
        assert module(ts.zeros(2)).tolist() == [k % 2] * 2
        assert module.a.tolist() == [k % 2] * 2 and module.b.tolist() == [1 - k % 2] * 2
        assert module.weight.tolist() == [2**k] * 2 and module.weight.is_leaf


def test_generated_code_of_invalid_identifiers():
    program = export(ts.nn.Sequential(ts.nn.Linear(2, 2)), (ts.ones(1, 2),))
    assert 'getattr(self, "0").weight' in program.module().code
    assert ts.fx.graph._format_target("self", 'a"+x') == "getattr(self, 'a\"+x')"


class OddNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"a-b": nn.Linear(3, 3), "a_b": nn.Linear(3, 3), "x\n y": nn.Linear(3, 3)})
        self.scales = nn.ParameterDict({"p q": ts.rand(3), "1": ts.rand(3), "if": ts.rand(3), "ﬁ": ts.rand(3)})
        self.scales["fi"] = ts.rand(3)
        self.register_buffer("layers_a_b_weight", ts.rand(3))
        self.constants = {"c-c": ts.rand(3)}

    def forward(self, x, shifts):
        for layer in self.layers.values():
            x = layer(x)
        x = ts.cond(x.sum() > 0, lambda x: x * self.scales["p q"], lambda x: x + self.scales["if"], (x,))
        x = x * self.scales["ﬁ"] + self.scales["fi"] * self.scales["1"] + self.layers_a_b_weight
        return x + shifts["u-v"] - shifts["u_v"] * shifts["class"] + self.constants["c-c"]


def test_export_of_invalid_identifiers(tmp_path):
    model = OddNames()
    x, shifts = ts.rand(2, 3), {name: ts.rand(3) for name in ("u-v", "u_v", "class")}
    program = export(model, (x, shifts))
    names = [spec.arg.name for spec in program.graph_signature.input_specs]
    assert names[:6] == [
        "p_layers_a_b_weight", "p_layers_a_b_bias", "p_layers_a_b_weight_1", "p_layers_a_b_bias_1",
        "p_layers_x__y_weight", "p_layers_x__y_bias",
    ]  # fmt: skip
    assert names[-3:] == ["shifts_u_v", "shifts_u_v_1", "shifts_class"]
    ts.export.save(program, tmp_path / "odd.pt2")
    loaded = ts.export.load(tmp_path / "odd.pt2")
    for each in (program, program.run_decompositions(), loaded):
        module = each.module()
        for _ in range(3):
            assert_close(module(x, shifts), model(x, shifts))
    assert_close(ts.export.unflatten(program)(x, shifts), model(x, shifts))


def test_parameter_names_are_not_executed_as_code():
    model = nn.Module()
    text = "x): raise SystemExit\n    raise SystemExit #"
    model.register_parameter(text, nn.Parameter(ts.rand(3)))
    model.forward = lambda x, **more: x * model._parameters[text] + more[text]
    x, y = ts.rand(3), ts.rand(3)
    module = export(model, (x,), {text: y}).module()
    assert_close(module(x, **{text: y}), x * model._parameters[text] + y)
