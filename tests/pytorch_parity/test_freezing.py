"""Frozen modules compared with PyTorch's: graph nodes, remaining attributes, results and archives."""

import enum
import io
import re

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402


def modules(framework):
    """Return modules as classes of one framework, by name."""
    nn = framework.nn

    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(framework.tensor([1.0, 2.0]))
            self.power = 3

        def forward(self, x):
            return x * self.weight**self.power

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = Scale()
            self.number = 5
            self.sizes = [1, 2]
            self.counter = 0
            self.norm = nn.BatchNorm1d(2)
            self.dropout = nn.Dropout()

        def forward(self, x):
            self.counter += 1
            y = self.scale(x) + self.number + len(self.sizes)
            if self.training:
                y = y + 100
            return self.dropout(self.norm(y))

        @framework.jit.export
        def other(self, x):
            self.sizes.append(3)
            return x * self.number + self.scale.weight

    class Convolutions(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
            self.head = nn.Sequential(nn.Flatten(), nn.Linear(4 * 9, 2))

        def forward(self, x):
            return self.head(framework.relu(self.norm(self.conv(x))))

    return {"scale": Scale, "net": Net, "convolutions": Convolutions}


EXAMPLES = {"scale": (4, 2), "net": (4, 2), "convolutions": (2, 3, 5, 5)}


def frozen(framework, name, preserved=()):
    framework.manual_seed(0)
    module = framework.jit.script(modules(framework)[name]().eval())
    return module, framework.jit.freeze(module, preserved_attrs=list(preserved))


def nodes(graph):
    """Return the lines of a graph without source locations, value numbers and constants."""
    lines = [
        re.sub(r" #.*|%[\w.]+|___torch_mangle_\d+\.", "", line).strip() for line in str(graph).splitlines()
    ]
    return [line for line in lines if "prim::Constant" not in line]


def attributes(module, names):
    return {name for name in names if hasattr(module, name)}


@pytest.mark.parametrize("preserved", [(), ("other", "number"), ("scale.power",)], ids=str)
@pytest.mark.parametrize("name", ["scale", "net"])
def test_graphs(name, preserved):
    """Frozen graphs have PyTorch's nodes in order, and its remaining attributes."""
    if name == "scale" and preserved:
        preserved = ("power",)
    (_, theirs), (_, ours) = (frozen(framework, name, preserved) for framework in (torch, ts))
    assert nodes(ours.graph) == nodes(theirs.graph)
    names = ["scale", "number", "sizes", "counter", "table", "norm", "dropout", "training", "weight", "power"]
    assert attributes(ours, names) == attributes(theirs, names)


@pytest.mark.parametrize("name", EXAMPLES)
def test_values(name):
    (_, theirs), (_, ours) = (frozen(framework, name) for framework in (torch, ts))
    x = torch.rand(EXAMPLES[name])
    result = ours(ts.from_numpy(x.numpy()))
    assert torch.allclose(theirs(x), torch.from_numpy(result.detach().numpy()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", EXAMPLES)
def test_archives(name):
    """Frozen archives of each library load in the other."""
    x = torch.rand(EXAMPLES[name])
    (_, theirs), (_, ours) = (frozen(framework, name) for framework in (torch, ts))
    their_file, our_file = io.BytesIO(), io.BytesIO()
    torch.jit.save(theirs, their_file)
    ts.jit.save(ours, our_file)
    their_file.seek(0), our_file.seek(0)
    first = torch.jit.load(our_file)(x)
    second = ts.jit.load(their_file)(ts.from_numpy(x.numpy()))
    assert torch.allclose(first, torch.from_numpy(second.detach().numpy()), rtol=1e-4, atol=1e-5)


def containers(framework):
    """Create a module with unmodified containers of tensors, parameters and enums."""

    class Side(enum.Enum):
        LEFT = 1
        RIGHT = 2

    class Containers(framework.nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = framework.nn.GRU(3, 2)
            self.tables = {
                "a": [framework.nn.Parameter(framework.ones(2))],
                "b": [framework.zeros(2), framework.ones(1)],
            }
            self.pair = (framework.full((2,), 3.0), "text")
            self.sides = {"left": (Side.LEFT, 1.0), "right": (Side.RIGHT, 2.0)}

        def forward(self, x, name: str):
            out, _ = self.gru(x)
            for table in self.tables[name]:
                out = out + table * self.pair[0]
            for side, factor in self.sides.values():
                if side == Side.RIGHT:
                    out = out * factor
            return out

    framework.manual_seed(0)
    return framework.jit.freeze(framework.jit.script(Containers().eval()))


def test_containers():
    """Frozen containers are saved as their elements, without `requires_grad`, and load in PyTorch."""
    theirs, our_file = containers(torch), io.BytesIO()
    ts.jit.save(containers(ts), our_file)
    our_file.seek(0)
    loaded, x = torch.jit.load(our_file), torch.rand(4, 1, 3)
    for name in "ab":
        assert torch.allclose(loaded(x, name), theirs(x, name), atol=1e-5)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda framework: framework.jit.freeze(framework.nn.Linear(1, 1)),
        lambda framework: framework.jit.freeze(framework.jit.script(framework.nn.Linear(1, 1))),
        lambda framework: frozen(framework, "net", ["missing"]),
        lambda framework: framework.jit.optimize_for_inference(framework.nn.Linear(1, 1)),
    ],
)
def test_rejected_calls(attempt):
    """Rejected calls of freezing raise PyTorch's error message."""
    errors = []
    for framework in (torch, ts):
        with pytest.raises(RuntimeError) as error:
            attempt(framework)
        errors.append(str(error.value))
    assert errors[0] == errors[1]


@torch.jit.script
class Bag:
    def __init__(self, n: int):
        self.items = [n]

    def add(self, x: int) -> int:
        self.items.append(x)
        return len(self.items)


class Bagged(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = Bag(3)

    def forward(self, x):
        return x * self.bag.items[0] + self.bag.add(2)


def test_objects_that_are_constants():
    """Objects become constants, as in PyTorch, and writes to them are preserved between calls."""
    their_file, our_file = io.BytesIO(), io.BytesIO()
    torch.jit.save(torch.jit.freeze(torch.jit.script(Bagged().eval())), their_file)
    their_file.seek(0)
    ours = ts.jit.load(their_file)
    assert [ours(ts.ones(1)).item() for _ in range(3)] == [5, 6, 7]
    assert str(ours.inlined_graph).count("prim::Constant[value=object(0x") == 1
    ts.jit.save(ours, our_file)
    for load, x in ((torch.jit.load, torch.ones(1)), (ts.jit.load, ts.ones(1))):
        our_file.seek(0)
        assert load(our_file)(x).item() == 8
