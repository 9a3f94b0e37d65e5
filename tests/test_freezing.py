"""Frozen modules: results, remaining attributes and rejected cases."""

import io
from typing import Dict, List, Tuple

import pytest

import ts
from ts import nn
from ts.bytecode.disasm import disassemble
from ts.passes.freezing.freeze import freeze_module


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(ts.tensor([1.0, 2.0]))
        self.power = 3

    def forward(self, x):
        return x * self.weight**self.power


class Net(nn.Module):
    counter: int

    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.table: Dict[str, ts.Tensor] = {"a": ts.ones(1)}
        self.sizes: List[int] = [1, 2]
        self.counter = 0
        self.total = ts.zeros(2)

    def forward(self, x):
        self.counter += 1
        if self.training:
            self.total.add_(1)
        return self.scale(x) + len(self.sizes) + self.table["a"]

    @ts.jit.export
    def grow(self, x: int) -> int:
        self.sizes.append(x)
        return len(self.sizes)


def scripted(module):
    return ts.jit.script(module.eval())


def kinds(graph):
    return {node.kind() for node in graph.all_nodes()}


def has(module, name):
    return name in module._concrete.type.attributes


def test_attributes_are_constants():
    """Attributes without writes become constants, branches on `training` are removed, and written attributes
    remain."""
    module = scripted(Net())
    frozen = ts.jit.freeze(module)
    x = ts.tensor([1.0, -1.0])
    assert frozen(x).equal(module(x))
    assert has(frozen, "counter") and list(frozen._concrete.type.attributes) == ["counter"]
    assert frozen.counter == 1 and not hasattr(frozen, "training")
    assert [name for name, _ in frozen.named_modules()] == [""] and not list(frozen.parameters())
    assert "prim::If" not in kinds(frozen.graph)
    assert module.scale.weight.requires_grad


def test_frozen_is_a_copy():
    """Assignments to the module do not change its frozen copy; tensors share memory, as in PyTorch."""
    module = scripted(Scale())
    frozen = ts.jit.freeze(module)
    module.power = 1
    assert frozen(ts.ones(2)).tolist() == [1.0, 8.0]
    linear = scripted(nn.Linear(1, 1, bias=False))
    frozen = ts.jit.freeze(linear)
    with ts.no_grad():
        linear.weight[0, 0] = 3.0
    assert frozen(ts.ones(1)).tolist() == [3.0]


def test_preserved():
    """`preserved_attrs` keeps attributes, methods and attributes of submodules."""
    module = scripted(Net())
    frozen = ts.jit.freeze(module, preserved_attrs=["grow", "table", "scale.power"])
    assert set(frozen._concrete.type.attributes) == {"scale", "table", "sizes", "counter"}
    assert list(frozen.scale._concrete.type.attributes) == ["power"]
    assert (frozen.grow(3), frozen.grow(4)) == (3, 4)
    assert frozen(ts.ones(2)).tolist() == [6.0, 13.0]
    frozen.scale.power = 1
    assert frozen(ts.ones(2)).tolist() == [6.0, 7.0]
    with_submodule = ts.jit.freeze(module, preserved_attrs=["scale"])
    assert [name for name, _ in with_submodule.scale.named_parameters()] == ["weight"]


class Shares(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = ts.arange(6)
        self.view = self.memory.view(2, 3)
        self.other = ts.ones(1)

    def forward(self, x):
        self.view[1] += 10
        return self.memory.sum() + self.other.sum()


def test_shared_memory():
    """Tensors that share memory with a written tensor stay attributes."""
    module = scripted(Shares())
    frozen = ts.jit.freeze(module)
    assert set(frozen._concrete.type.attributes) == {"memory", "view"}
    assert [float(frozen(ts.ones(1))) for _ in range(2)] == [46.0, 76.0]


class SharesInList(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = ts.arange(6)
        self.views = [self.memory.view(2, 3)]

    def forward(self, x):
        self.views.append(x)
        self.views[0][0] += 1
        return self.memory.sum()


class ReturnsItself(nn.Module):
    def forward(self, x):
        return self


class Chooses(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Scale()])

    def forward(self, x, i: int):
        layer: OneTensor = self.layers[i]
        return layer.forward(x)


@ts.jit.interface
class OneTensor(nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        pass


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: ts.jit.freeze(Scale()), "Freezing expects a ScriptModule as input"),
        (lambda: ts.jit.freeze(ts.jit.script(Scale())), "only implemented for modules in eval mode"),
        (lambda: ts.jit.freeze(scripted(Scale()), ["bias"]), "Unknown name: bias"),
        (lambda: ts.jit.freeze(scripted(Net()), ["scale.bias"]), "Unknown name: scale.bias"),
        (lambda: ts.jit.freeze(scripted(SharesInList())), "contains attributes values that overlaps"),
        (lambda: ts.jit.freeze(scripted(ReturnsItself())), "attempted to freeze a module that return itself"),
        (lambda: ts.jit.freeze(scripted(Chooses())), "prim::ModuleContainerIndex is not supported"),
        (lambda: ts.jit.optimize_for_inference(Scale()), "optimize_for_inference expects a ScriptModule"),
    ],
)
def test_unsupported_modules_are_rejected(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


class Forks(nn.Module):
    def __init__(self):
        super().__init__()
        self.forked = ts.ones(2)
        self.plain = ts.ones(2)
        self.pair: Tuple[ts.Tensor, int] = (ts.ones(2), 2)

    def forward(self, x):
        task = ts.jit.fork(plus_one, self.forked)
        return ts.jit.wait(task) + self.plain + self.pair[0] * self.pair[1]


def plus_one(x):
    return x + 1


def test_attributes_of_tasks_are_preserved():
    """Attributes passed to a forked task stay attributes, because the task may modify them."""
    frozen = ts.jit.freeze(scripted(Forks()))
    assert list(frozen._concrete.type.attributes) == ["forked"]
    assert frozen(ts.ones(1)).tolist() == [5.0, 5.0]


class ForksItself(nn.Module):
    """A module whose tasks run its own methods, nested in another module."""

    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.seen = ts.zeros(2)
        self.given = ts.ones(2)

    @ts.jit.export
    def part(self, x):
        self.seen.add_(1)
        return self.scale(x) + self.seen

    @ts.jit.export
    def nested(self, x):
        return 2 * ts.jit.wait(ts.jit.fork(self.part, x))

    @ts.jit.export
    def get(self, x):
        return self.given

    def forward(self, x):
        tasks = [ts.jit.fork(self.nested, x), ts.jit.fork(self.get, x)]
        return ts.jit.wait(tasks[0]) + ts.jit.wait(tasks[1])


def test_tasks_of_the_module_itself_are_frozen():
    frozen = ts.jit.freeze(scripted(ForksItself()))
    assert sorted(frozen._concrete.type.attributes) == ["given", "seen"]
    assert [frozen(ts.ones(2)).tolist() for _ in range(2)] == [[5.0, 19.0], [7.0, 21.0]]
    file = io.BytesIO()
    ts.jit.save(frozen, file)
    file.seek(0)
    assert ts.jit.load(file)(ts.ones(2)).tolist() == [9.0, 23.0]


def test_tasks_receive_only_modules_they_read():
    class ForksPart(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = Scale()

        @ts.jit.export
        def part(self, x):
            return self.scale(x)

        def forward(self, x):
            return ts.jit.wait(ts.jit.fork(self.part, x))

    frozen = ts.jit.freeze(scripted(ForksPart()))
    (fork,) = frozen.graph.find_all_nodes("prim::fork")
    assert [value.debug_name() for value in fork.inputs()] == ["x.1"]
    assert not frozen._concrete.type.attributes
    assert frozen(ts.ones(2)).tolist() == [1.0, 8.0]


def test_training_mode():
    """`freeze_module` preserves attributes of submodules in training mode."""
    module = ts.jit.script(Net())
    module.scale.eval()
    frozen = freeze_module(module)
    assert "total" in frozen._concrete.type.attributes and "scale" not in frozen._concrete.type.attributes


@pytest.mark.parametrize("preserve", [False, True])
def test_parameters(preserve):
    frozen = freeze_module(scripted(Net()), [], True, preserve)
    assert [name for name, _ in frozen.named_parameters()] == (["scale.weight"] if preserve else [])


class Block(nn.Module):
    def __init__(self, dim, bias):
        super().__init__()
        conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dim - 1]
        norm = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[dim - 1]
        self.first, self.second = conv(2, 3, 2, bias=bias), conv(3, 3, 1, bias=bias, groups=3)
        self.norm, self.plain = norm(3), norm(3, affine=False)
        self.dropout = nn.Dropout(0.5)
        self.shift = ts.rand(1, 3, *[1] * dim)
        for each in (self.norm, self.plain):
            each.running_mean.uniform_(-1, 1)
            each.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = self.dropout(self.norm(self.first(x)))
        x = ts.relu(x - 0.5 + self.shift)
        return self.plain(self.second(x) * 2.0 / self.shift)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_folding(dim, bias):
    """Batch norm and arithmetic after a convolution are folded into its weight, and dropout is removed."""
    ts.manual_seed(dim)
    module = scripted(Block(dim, bias))
    x = ts.rand(2, 2, *[5] * dim)
    frozen = ts.jit.freeze(module)
    assert kinds(frozen.graph).isdisjoint({"aten::batch_norm", "aten::dropout", "aten::mul", "aten::div", "aten::add", "aten::sub"})
    ts.testing.assert_close(frozen(x), module(x), rtol=1e-4, atol=1e-5)
    exact = ts.jit.freeze(module, optimize_numerics=False)
    assert "aten::batch_norm" in kinds(exact.graph) and "aten::dropout" not in kinds(exact.graph)
    with ts.no_grad():  # exactly equal, because the same kernels run
        assert exact(x).equal(module(x))
    again = ts.jit.optimize_for_inference(exact)
    ts.testing.assert_close(again(x), module(x), rtol=1e-4, atol=1e-5)
    assert "aten::batch_norm" not in kinds(again.graph)


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 4), nn.BatchNorm1d(4)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return self.norm(self.linear(x))


def test_folding_of_linear_layers():
    """Batch norm after a linear layer is folded for matrices, whose features are the channels, but not for
    three dimensions."""
    module = scripted(Features())
    frozen = ts.jit.freeze(module)
    frozen.graph.lint()
    choices = [n for n in frozen.graph.find_all_nodes("prim::If") if n.outputs() and n.find_node("aten::linear")]
    assert [[n.kind() for n in block.nodes()] for block in choices[-1].blocks()] == [
        ["aten::linear"], ["aten::linear", "aten::batch_norm"]
    ]
    for sizes in ((2, 3), (2, 4, 3)):
        x = ts.rand(sizes)
        ts.testing.assert_close(frozen(x), module(x), rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError, match="expected 2D or 3D input"):
        frozen(ts.rand(3))


class NotFolded(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 1)
        self.wide = ts.ones(1, 2, 4, 4)

    def forward(self, x):
        x = self.conv(x)
        a = x * 2.0
        y = self.conv(x[:, :1]) + self.wide
        return a + x + ts.add(self.conv(y[:, :1]), 1.0, alpha=2)


def test_unfolded_operations():
    """Operations on a result with two uses, per-position numbers and `alpha` factors are not folded."""
    module = scripted(NotFolded())
    x = ts.rand(1, 1, 4, 4)
    frozen = ts.jit.freeze(module)
    assert frozen(x).equal(module(x))


def test_archive():
    """Frozen modules can be saved and loaded."""
    module = scripted(Block(2, True))
    file = io.BytesIO()
    ts.jit.save(ts.jit.freeze(module), file)
    file.seek(0)
    loaded = ts.jit.load(file)
    x = ts.rand(1, 2, 5, 5)
    ts.testing.assert_close(loaded(x), module(x), rtol=1e-4, atol=1e-5)
    assert not hasattr(loaded, "training") and not list(loaded.parameters())


def test_optimized_after_a_call():
    """Frozen optimizations apply to a module that has already run."""
    module = ts.jit.freeze(scripted(Block(2, True)), optimize_numerics=False)
    x = ts.rand(1, 2, 5, 5)
    before = module(x)
    ts.jit.run_frozen_optimizations(module)
    ts.testing.assert_close(module(x), before, rtol=1e-4, atol=1e-5)
    assert "batch_norm" not in disassemble(module.forward.function.compiled_code)


def test_numbers_of_traces():
    """Folding of traced numbers, which are tensors in the graph, keeps the type promotion of numbers."""

    def turns(t):
        return t[:, None].float() * (ts.arange(4) * -0.5 / 3).exp()

    class Turns(nn.Module):
        def forward(self, t):
            return turns(t)

    t = ts.tensor([1, 2])
    frozen = ts.jit.freeze(ts.jit.trace(Turns().eval(), (t,)))
    assert frozen(t).dtype == ts.float32 and frozen(t).equal(turns(t))
    assert "aten::arange" not in kinds(frozen.graph)


def test_receivers_keep_their_names():
    """The code of a frozen method keeps the name of its first parameter."""

    class Doubled(nn.Module):
        def forward(this, x):
            return x * 2

    module = ts.jit.script(Doubled().eval())
    frozen = ts.jit.freeze(module)
    assert frozen.code.startswith("def forward(this,") and module.code.startswith("def forward(this,")


@ts.jit.interface
class Activation(nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        pass


class AddOne(nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return x + 1


class Chosen(nn.Module):
    activation: Activation

    def __init__(self):
        super().__init__()
        self.activation = AddOne()

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return self.activation(x)


class Swapped(Chosen):
    def __init__(self):
        super().__init__()
        self.other = AddOne()

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        self.activation = self.other
        return self.activation(x)


def test_interface_attributes_that_cannot_be_frozen():
    """Freezing rejects interface attributes that are assigned or preserved, or without `freezeInterfaces`."""
    with pytest.raises(RuntimeError, match=r"does not support SetAttr on an interface type.*'activation'"):
        ts.jit.freeze(scripted(Swapped()))
    with pytest.raises(RuntimeError, match="failed to freeze interface attribute 'activation'"):
        ts.jit.freeze(scripted(Chosen()), ["activation"])
    with pytest.raises(RuntimeError, match="attempted to freeze a module that uses interface attributes"):
        freeze_module(scripted(Chosen()), [], freeze_interfaces=False)
    assert ts.jit.freeze(scripted(Chosen()))(ts.ones(1)).item() == 2


class Offset:
    def __init__(self, amount: int):
        self.amount = amount

    def apply(self, x: ts.Tensor) -> ts.Tensor:
        return x + self.amount

    def grow(self, x: ts.Tensor) -> ts.Tensor:
        self.amount += 1
        return x + self.amount


class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = Offset(3)

    def forward(self, x):
        return self.offset.apply(x)


class Growing(Shifted):
    def forward(self, x):
        return self.offset.grow(x)


def test_objects_of_script_classes_are_constants():
    """A script object becomes a copied constant of the graphs; its unassigned attributes are folded."""
    frozen = ts.jit.freeze(scripted(Shifted()))
    assert not has(frozen, "offset") and "prim::GetAttr" not in kinds(frozen.graph)
    assert frozen(ts.zeros(1)).item() == 3
    module = scripted(Growing())
    frozen = ts.jit.freeze(module)
    assert not has(frozen, "offset") and "prim::SetAttr" in kinds(frozen.graph)
    assert [frozen(ts.zeros(1)).item() for _ in range(2)] == [4, 5]
    assert module.offset.amount == 3
    assert has(ts.jit.freeze(scripted(Shifted()), ["offset"]), "offset")


def test_object_constants_are_saved():
    """The archive of a frozen module contains the objects that are constants of its graphs."""
    buffer = io.BytesIO()
    ts.jit.save(ts.jit.freeze(scripted(Growing())), buffer)
    buffer.seek(0)
    assert ts.jit.load(buffer)(ts.zeros(1)).item() == 4
