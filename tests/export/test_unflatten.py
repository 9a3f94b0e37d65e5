"""`unflatten`: the original module tree, its state, and replaceable submodule calls."""

import pytest

import ts
from ts import nn
from ts.export import Dim, export, unflatten
from ts.export.interpreter_modules import InterpreterModule, InterpreterModuleDispatcher
from ts.export.verifier import SpecViolationError


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("scale", ts.full((4,), 2.0))

    def forward(self, x, others=None, *, by=None):
        y = self.linear(x) * self.scale
        if others is not None:
            y = y + others[0] * others[1]["a"]
        if by is not None:
            y = y * by
        return y, {"double": y * 2}


class Net(nn.Module):
    """Two blocks, the first called twice, and an activation called twice."""

    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()
        self.layers = nn.ModuleList([nn.ReLU(), nn.Linear(4, 4)])
        self.never = nn.Linear(4, 4)

    def forward(self, x):
        a, found = self.first(x)
        a = self.layers[0](a)
        b, other = self.second(found["double"], (x, {"a": a}), by=a)
        c, _ = self.first(self.layers[0](b))
        return self.layers[1](c) + other["double"]


def program(*preserved):
    x = ts.randn(2, 4)
    net = Net()
    return net, export(
        net, (x,), dynamic_shapes={"x": {0: Dim("n", max=9)}}, preserve_module_call_signature=preserved
    )


@pytest.mark.parametrize("preserved", [(), ("first", "second"), ("second.linear",)])
@pytest.mark.parametrize("decomposed", [False, True])
def test_same_numbers_and_state(preserved, decomposed):
    net, unflattened = program(*preserved)
    module = unflatten(unflattened.run_decompositions() if decomposed else unflattened)
    for n in (2, 5):
        x = ts.randn(n, 4)
        assert ts.allclose(module(x), net(x), rtol=1e-6)
    assert module.get_parameter("first.linear.weight") is net.first.linear.weight
    names = dict(module.named_modules())
    assert {"first", "first.linear", "second", "layers", "layers.0", "layers.1", "never"} <= names.keys()
    assert set(net.state_dict()) <= set(module.state_dict())


def test_calls_with_other_graphs():
    """A second call of a block with fewer results becomes a separate module; equal calls share one."""
    _, unflattened = program()
    module = unflatten(unflattened)
    calls = [n.target for n in module.graph.nodes if n.op == "call_module"]
    assert calls == ["first", "layers.0", "second", "layers.0", "first@1", "layers.1"]
    assert [e.fqn for e in unflattened.module_call_graph][:3] == ["", "first", "first.linear"]
    assert all(e.signature is None for e in unflattened.module_call_graph[1:])


def test_replaced():
    """A module with a preserved signature can be replaced by a module with the original call signature."""
    net, unflattened = program("first", "second")
    module = unflatten(unflattened)
    assert [e.fqn for e in unflattened.module_call_graph if e.signature] == ["", "first", "second", "first@1"]
    other = Block()
    module.second = net.second = other
    x = ts.randn(3, 4)
    assert ts.equal(module(x), net(x))
    y, found = module.first(x)
    assert ts.equal(y, net.first(x)[0]) and list(found) == ["double"]


def test_dispatched():
    """The call of a preserved module with several graphs dispatches to them in turn."""

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = Part()

        def forward(self, x):
            return self.part(self.part(x, True), False) + self.part(x, True)

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("one", ts.ones(3))

        def forward(self, x, up):
            return x + self.one if up else x - 2 * self.one

    net, x = Twice(), ts.randn(3)
    module = unflatten(export(net, (x,), preserve_module_call_signature=("part",)))
    assert isinstance(module.part, InterpreterModuleDispatcher)
    assert [type(m) for m in module.part.call_modules()] == [InterpreterModule] * 3
    for _ in range(2):
        assert ts.equal(module(x), net(x))
    assert list(module.state_dict()) == ["part.one"]


def test_writes():
    """Buffer writes of a program are visible during the run or at its end."""

    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)
            self.register_buffer("last", ts.zeros(4))

        def forward(self, x):
            y = self.norm(x) + self.last
            self.last.copy_(x[0])
            return y

    for decomposed in (False, True):
        net, x = Counted(), ts.randn(3, 4)
        unflattened = export(net, (x,))
        module = unflatten(unflattened.run_decompositions() if decomposed else unflattened)
        own = Counted()
        assert ts.allclose(module(x), own(x)) and ts.allclose(module(x), own(x))
        for name, buffer in own.named_buffers():
            assert ts.allclose(module.get_buffer(name).double(), buffer.double()), name


def test_sizes_around_preserved_calls():
    class Scaled(nn.Module):
        def forward(self, x, y):
            return x * y.shape[0] + y.shape[0]

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = Scaled(), Scaled()

        def forward(self, x, y):
            return self.b(self.a(x, y), y)

    n = Dim("n")
    unflattened = export(
        Both(),
        (ts.ones(3), ts.ones(5, 2)),
        dynamic_shapes=(None, {0: n}),
        preserve_module_call_signature=("b",),
    )
    module = unflatten(unflattened)
    x, y = ts.ones(3), ts.ones(7, 2)
    assert ts.equal(module(x, y), Both()(x, y)) and ts.equal(module.b(x, y), Scaled()(x, y))


def test_rejected_arguments():
    _, unflattened = program("first")
    module = unflatten(unflattened)
    for x, text in (
        (ts.ones(2, 5), "Expected input at *args[0].shape[1] to be equal to 4, but got 5. If you meant"),
        (ts.ones(12, 4), "Expected input at *args[0].shape[0] to be <= 9, but got 12"),
        (ts.ones(2, 4, 1), "Unexpected number of dimensions in input at *args[0].shape"),
        (3, "Expected input at *args[0] to be a tensor, but got <class 'int'>"),
    ):
        with pytest.raises(RuntimeError) as error:
            module(x)
        assert str(error.value).startswith(text)
    with pytest.raises(TypeError, match="There is no flat args adapter specified"):
        module(ts.ones(2, 4), 3)
    with pytest.raises(AttributeError):
        export(Net(), (ts.ones(2, 4),), preserve_module_call_signature=("third",))


def test_adapter():
    class First(ts.export.FlatArgsAdapter):
        def adapt(self, target_spec, input_spec, input_args, metadata=None, obj=None):
            return input_args[:1]

    net, unflattened = program()
    module = unflatten(unflattened, First())
    x = ts.randn(2, 4)
    assert ts.allclose(module(x, 3), net(x)) and module.adapted


def test_values_captured_by_preserved_calls():
    """A preserved call that reads a value other than its arguments is rejected with the name of the value."""

    class Keeps(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = None

        def forward(self, x):
            self.kept = x * 2
            return x

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.keeps = Keeps()

        def forward(self, x):
            return self.keeps(x) + self.keeps.kept

    unflattened = export(Outer(), (ts.ones(2),), preserve_module_call_signature=("keeps",))
    with pytest.raises(RuntimeError, match="the signature of keeps cannot be preserved: mul is used outside"):
        unflatten(unflattened)


def test_files(tmp_path):
    net, unflattened = program("first")
    ts.export.save(unflattened, tmp_path / "net.pt2")
    loaded = ts.export.load(tmp_path / "net.pt2")
    assert [(e.fqn, e.signature is None) for e in loaded.module_call_graph] == [
        (e.fqn, e.signature is None) for e in unflattened.module_call_graph
    ]
    x = ts.randn(2, 4)
    module = unflatten(loaded)
    assert ts.allclose(module(x), net(x)) and ts.allclose(module.first(x)[0], net.first(x)[0])


def test_validate():
    _, unflattened = program("first")
    unflattened.validate()
    decomposed = unflattened.run_decompositions()
    decomposed.validate()
    assert (unflattened.dialect, decomposed.dialect) == ("TRAINING", "ATEN")
    node = next(n for n in decomposed.graph.nodes if n.op == "call_function")
    node.target = ts.ops.aten.add_.Tensor
    with pytest.raises(SpecViolationError, match=r"operator 'aten.add_.Tensor' is not functional"):
        decomposed.validate()
    unflattened.state_dict.pop("first.linear.weight")
    with pytest.raises(SpecViolationError, match=r"Parameter first.linear.weight is not in the state dict\."):
        unflattened.validate()


def test_preserved_calls_of_shared_modules():
    """Weights of another module and constants of the program are attributes; calls within loops are not preserved."""

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, k):
            def step(i, x):
                return i + 1, self.linear(x)

            return ts.while_loop(lambda i, x: i < k, step, (ts.tensor(0), x))[1]

    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Part(), Part()
            self.second.linear.weight = self.first.linear.weight

        def forward(self, x, k):
            return self.second(self.first(x, k), k)

    net, x, k = Whole(), ts.randn(2, 3), ts.tensor(2)
    unflattened = export(net, (x, k), preserve_module_call_signature=("first", "second", "first.linear"))
    assert [e.fqn for e in unflattened.module_call_graph if e.signature] == ["", "first", "second"]
    for program in (unflattened, unflattened.run_decompositions()):
        module = unflatten(program)
        assert ts.allclose(module(x, k), net(x, k), rtol=1e-5)
        assert ts.allclose(module.second(x, k), net.second(x, k), rtol=1e-5)
