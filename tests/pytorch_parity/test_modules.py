"""Modules in Python compared with PyTorch: `repr`, order of names, messages, conversions, hooks."""

import copy

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402


def classes(t):
    """Return the example module classes of either library."""
    nn = t.nn

    class Leaf(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(t.ones(2, 3))
            self.register_buffer("b", t.zeros(3))
            self.register_buffer("temporary", t.zeros(1), persistent=False)
            self.nothing = None
            self.number = 5

        def forward(self, x):
            return x @ self.w.T

    class Tree(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = Leaf()
            self.list = nn.ModuleList([Leaf(), Leaf()])
            self.dict = nn.ModuleDict({"k": Leaf()})
            self.parameter_list = nn.ParameterList([t.ones(2), t.zeros(3, 4)])
            self.parameter_dict = nn.ParameterDict({"z": nn.Parameter(t.ones(1))})
            self.sequence = nn.Sequential(Leaf(), Leaf())

        def forward(self, x):
            return self.a(x)

        def extra_repr(self):
            return "hi=1"

    return Leaf, Tree


def hooked(t, tree):
    x = t.ones(1, 3)
    handle = tree.register_forward_hook(lambda module, args, output: output + 1)
    tree.register_forward_pre_hook(lambda module, args: args[0] * 2)
    with_hook = tree(x).tolist()
    handle.remove()
    return with_hook, tree(x).tolist()


EXAMPLES = {
    "text": lambda t, m: repr(m),
    "state": lambda t, m: list(m.state_dict()),
    "modules": lambda t, m: [name for name, _ in m.named_modules()],
    "buffers": lambda t, m: [name for name, _ in m.named_buffers()],
    "parameters": lambda t, m: [name for name, _ in m.named_parameters()],
    "load": lambda t, m: str(m.load_state_dict(m.state_dict())),
    "load wrong": lambda t, m: m.load_state_dict({"a.w": t.ones(1), "zz": t.ones(1)}),
    "load some": lambda t, m: list(m.load_state_dict({"zz": t.ones(1)}, strict=False).unexpected_keys),
    "set parameter": lambda t, m: setattr(m.a, "w", t.ones(1)),
    "set module": lambda t, m: setattr(m, "a", 3),
    "set buffer": lambda t, m: setattr(m.a, "b", 3),
    "missing": lambda t, m: m.nothing_there,
    "buffer with a dot": lambda t, m: m.register_buffer("x.y", None),
    "buffer that exists": lambda t, m: m.register_buffer("a", None),
    "parameter without a name": lambda t, m: m.register_parameter("", None),
    "parameter that is none": lambda t, m: m.register_parameter("f", t.ones(1)),
    "module that is none": lambda t, m: m.add_module("r", 3),
    "no forward": lambda t, m: t.nn.Module()(3),
    "too many arguments": lambda t, m: t.nn.Module(3),
    "unknown argument": lambda t, m: t.nn.Module(a=3),
    "list index": lambda t, m: m.list[5],
    "submodule": lambda t, m: repr(m.get_submodule("list.0")),
    "no submodule": lambda t, m: m.get_submodule("a.x"),
    "no parameter": lambda t, m: m.get_parameter("a.b"),
    "integer parameter": lambda t, m: t.nn.Parameter(t.ones(2, dtype=t.int64)),
    "parameter": lambda t, m: repr(t.nn.Parameter(t.ones(2))),
    "slices": lambda t, m: (repr(m.list[1:]), repr(m.sequence[0:1]), m.parameter_list[-1].shape),
    "double": lambda t, m: str(m.double().a.w.dtype).rpartition(".")[2],
    "to": lambda t, m: str(m.to(t.float64).a.b.dtype).rpartition(".")[2],
    "to integers": lambda t, m: m.to(t.int32),
    "hooks": hooked,
    "eval": lambda t, m: [module.training for module in m.eval().modules()],
    "copy": lambda t, m: (repr(copy.deepcopy(m)), type(copy.deepcopy(m).a.w).__name__),
    "empty": lambda t, m: [repr(c()) for c in (t.nn.ModuleList, t.nn.ParameterList, t.nn.Sequential)],
    "no gradients": lambda t, m: [p.requires_grad for p in m.requires_grad_(False).parameters()],
    "deleted": lambda t, m: (delattr(m.a, "w"), list(m.a.state_dict())),
    "list changes": lambda t, m: (m.list.insert(0, t.nn.ModuleList()), m.list.pop(1), repr(m.list)),
    "dictionary": lambda t, m: (list(m.dict), "k" in m.dict, len(m.dict), repr(m.dict.pop("k"))),
}


def outcome(t, example):
    try:
        return str(example(t, classes(t)[1]()))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_as_pytorch(name):
    """An expression on a tree of modules has PyTorch's value or error."""
    assert outcome(ts, EXAMPLES[name]) == outcome(torch, EXAMPLES[name])


def test_parameters_share_memory_with_state():
    """`state_dict` shares memory with the module, and `to` keeps the parameter objects."""
    tree = classes(ts)[1]()
    weight = tree.a.w
    tree.state_dict()["a.w"].zero_()
    assert weight.tolist() == [[0.0] * 3] * 2
    assert tree.double().a.w is weight and weight.dtype == ts.float64


MOVES = [
    "cpu, True", "torch.long", "None, True", "cpu, torch.long, True", "cpu, dtype=torch.long", "[]", "{}, non_blocking=True",
    "torch.tensor(3)", "cpu, torch.tensor(3)", "'cpu', copy=True", "torch.float32, cpu", "cpu, torch.float64, True, True",
    "torch.float64, True, True", "torch.float32, device='cpu'", "torch.float32, dtype=torch.float32",
    "cpu, torch.half, True, False",
]  # fmt: skip


@pytest.mark.parametrize("text", MOVES)
def test_invalid_moves(text):
    """`Module.to` rejects invalid arguments with PyTorch's message."""

    def messages(library):
        with pytest.raises((TypeError, RuntimeError)) as caught:
            eval(
                f"library.nn.Linear(1, 1).to({text})",
                {"library": library, "torch": library, "cpu": library.device("cpu")},
            )
        return type(caught.value), str(caught.value).strip().replace("dtype=ts.", "dtype=torch.")

    assert messages(ts) == messages(torch)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None",
        "torch.float64, True",
        "None, torch.float64",
        "'cpu', None",
        "torch.ones(1), True",
        "tensor=torch.ones(1)",
    ],
)
def test_moves(text):
    def moved(library):
        value = eval(
            f"library.nn.Linear(1, 1).to({text})",
            {"library": library, "torch": library, "cpu": library.device("cpu")},
        )
        return str(value.weight.dtype).rpartition(".")[2]

    assert moved(ts) == moved(torch)
