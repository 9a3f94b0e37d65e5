"""`ExportedProgram.module()` compared with PyTorch: code, state, signatures, errors.  `T` is either library."""

import inspect
import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")

import ts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

SOURCE = """
class Net(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = T.nn.Linear(4, 3)
        self.unused = T.nn.Parameter(T.ones(2))
        self.sub = T.nn.Module()
        self.sub.constant = T.ones(3)
        self.register_buffer("calls", T.zeros(3))
        self.register_buffer("hidden", T.ones(3), persistent=False)

    def forward(self, x, *, scale=1):
        self.calls.add_(1)
        y = self.linear(x) + self.sub.constant + self.calls + self.hidden + T.tensor([1.0, 2, 3])
        return {"y": y, "scale": scale}

class Trees(T.nn.Module):
    def forward(self, x, y=None, *rest, k=1, d=None):
        return [x["b"] + x["a"][0], (rest[0], d[1] * 2)]

class Chooses(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = T.nn.Linear(3, 3)

    def forward(self, x):
        return T.cond(x.sum() > 0, lambda x: self.linear(x), lambda x: x.cos(), (x,))

class Writes(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", T.zeros(3))

    def forward(self, x, y):
        x.add_(1)
        self.seen.copy_(x[0])
        return y.sin() + x, self.seen

class Data(T.nn.Module):
    def forward(self, x, k):
        n = k.item()
        T._check(n >= 2)
        T._check(n <= 4)
        return x[:n]

class Layers(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = T.nn.Sequential(T.nn.Conv2d(1, 2, 3), T.nn.BatchNorm2d(2), T.nn.ReLU(), T.nn.Flatten())

    def forward(self, x):
        return self.layers(x)

class Nothing(T.nn.Module):
    def forward(self, x):
        return x

class Number(T.nn.Module):
    def forward(self, x, n, word):
        return x * n if word == "mul" else x + n
"""
PROGRAMS = {
    "Net": "(T.ones(5, 4),), {'scale': 3}, {'x': {0: T.export.Dim('n')}, 'scale': None}",
    "Trees": "({'b': T.ones(2), 'a': [T.ones(2)]}, None, T.ones(3)), {'d': [1, T.ones(2)]}, None",
    "Chooses": "(T.ones(3),), {}, None",
    "Writes": "(T.ones(2, 3), T.ones(2, 3)), {}, None",
    "Data": "(T.ones(5, 2), T.tensor(3)), {}, None",
    "Layers": "(T.arange(72.0).sin().reshape(2, 1, 6, 6),), {}, ({0: T.export.Dim('n')},)",
    "Nothing": "(T.ones(3),), {}, None",
    "Number": "(T.ones(3), 2, 'mul'), {}, None",
}


def exported(library, name):
    scope = {"T": library}
    exec(SOURCE, scope)
    args, kwargs, shapes = eval(PROGRAMS[name], scope)
    return library.export.export(scope[name](), args, kwargs, dynamic_shapes=shapes), args, kwargs


def described(module, decomposed):
    """Return the compared facts of a module; for decomposed modules without node numbers and order of
    constants."""
    code = module.code.replace("1e-05, True)", "1e-05, False)")  # a flag that permits cuDNN
    if decomposed:
        code = sorted(re.sub(r"\b([a-z_]+?)(_int|_default)?(_\d+)?\b", r"\1", line) for line in code.splitlines())
    return (
        code,
        list(inspect.signature(module.forward).parameters),
        sorted(module.state_dict()),
        sorted(name for name, _ in module.named_buffers()),
        [name for name, _ in module.named_children()],
        module.training,
    )


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_modules(name, decomposed):
    found = []
    for library in (ts, torch):
        program, args, kwargs = exported(library, name)
        module = (program.run_decompositions() if decomposed else program).module()
        for n, value in module.named_parameters():
            with library.no_grad():
                value.fill_(len(n) / 8)
        described_now = described(module, decomposed)
        results = [library.utils._pytree.tree_leaves(module(*args, **kwargs)) for _ in range(3)]
        results = [[x.tolist() if isinstance(x, library.Tensor) else x for x in each] for each in results]
        found.append((described_now, results))
    assert found[0][0] == found[1][0]
    for ours, theirs in zip(*(results for _, results in found), strict=True):
        torch.testing.assert_close([torch.tensor(x) for x in ours], [torch.tensor(x) for x in theirs])


CALLS = [
    "module(T.ones(2, 4))",
    "module(T.ones(2, 4), 3)",
    "module(T.ones(2, 4), scale=4)",
    "module(T.ones(2, 5), scale=3)",
    "module([T.ones(2, 4)], scale=3)",
    "module(T.ones(2, 4), scale=3, more=1)",
    "module(scale=3)",
    "module.train()",
    "module.eval()",
]


@pytest.mark.parametrize("call", CALLS)
def test_rejected_calls(call):
    messages = []
    for library in (ts, torch):
        program, _, _ = exported(library, "Net")
        with pytest.raises(Exception) as caught:
            eval(call, {"T": library, "module": program.module()})
        messages.append((caught.type.__name__, str(caught.value).splitlines()[0]))
    assert messages[0] == messages[1]
