"""Traces have PyTorch's graph text and its results on other inputs."""

import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

FUNCTIONS = {
    "names": lambda m: lambda x, y: _names(x, y),
    "sizes": lambda m: lambda x, y: x.reshape(x.size(0) * x.shape[1]) + m.ones(x.numel()) * x.shape[1],
    "index": lambda m: lambda x, y: (x[0], x[:, 1:], x[..., None], x[x.size(0) - 1], x[y > 0.5]),
    "views": lambda m: lambda x, y: (x.t(), x.T, x.unsqueeze(0).expand(2, -1, -1), m.cat([x, y], dim=0)),
    "casts": lambda m: (
        lambda x, y: (x.float(), x.to(m.int64), x.long(), x.to(m.float64, copy=True), x.clone())
    ),
    "factories": lambda m: lambda x, y: (m.zeros(2), m.empty_like(x).zero_(), m.full((2,), 1.0), m.arange(3)),
    "numbers": lambda m: lambda x, y: (x.pow(2), 1 - x, 2.0**x, x > 0, x // 2, -x, x.clamp(0, 1), x / 3),
    "reductions": lambda m: lambda x, y: (x.sum(), x.max(0), x.mean(1, keepdim=True), x.softmax(1)),
    "rows": lambda m: lambda x, y: m.stack([row * y[0] for row in x]),
}


def _names(x, y):
    z = x * 2 + y
    z += 1
    w = z.view(x.size(0), -1)
    return w.neg()


def in_place(x, y):
    x[0] = y[0]
    x[:, 1] = 3
    x.add_(y).mul_(2)
    return x


def text(trace):
    """Return the graph text without source locations, as columns in library files differ."""
    return re.sub(r" # .*", "", str(trace.graph))


def flat(x):
    """Return the numbers of all results, each preceded by a hash of its dtype and shape."""
    if isinstance(x, tuple | list):
        return [number for each in x for number in flat(each)]
    type_hash = sum(map(ord, f"{x.dtype} {list(x.shape)}"))
    return [type_hash, *x.reshape(-1).tolist()]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def traces(make):
    return [
        (m, m.jit.trace(make(m), (m.full((2, 3), 0.5), m.full((2, 3), 1.0)), check_trace=False))
        for m in (ts, torch)
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_on_other_inputs(name):
    (_, ours), (_, theirs) = traces(FUNCTIONS[name])
    rows = 2 if name == "rows" else 4
    results = []
    for m, trace in ((ts, ours), (torch, theirs)):
        x = m.arange(rows * 3, dtype=m.float32).view(rows, 3) / 7
        results.append(flat(trace(x, x - 0.25)))
    assert results[0] == pytest.approx(results[1])


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "rows"])
def test_graph_text(name):
    (_, ours), (_, theirs) = traces(FUNCTIONS[name])
    assert text(ours) == text(theirs)


def test_in_place():
    (_, ours), (_, theirs) = traces(lambda m: in_place)
    assert text(ours) == text(theirs)
    results = [trace(m.ones(4, 2), m.zeros(4, 2)).tolist() for m, trace in ((ts, ours), (torch, theirs))]
    assert results[0] == results[1]


def test_source_locations_are_lines():
    (_, ours), (_, theirs) = traces(lambda m: in_place)
    assert str(ours.graph) == str(theirs.graph)


def net(m):
    class Inner(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = m.nn.Parameter(m.ones(3, 3), requires_grad=False)
            self.register_buffer("b", m.ones(3))

        def forward(self, x):
            return x @ self.w + self.b, x - 1

    class Net(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.p = m.nn.Parameter(m.full((3,), 2.0), requires_grad=False)

        def forward(self, x):
            a, b = self.inner(x)
            return a * self.p + b + self.inner.w.sum()

    return Net()


def test_modules():
    ours, theirs = (m.jit.trace(net(m), m.ones(2, 3)) for m in (ts, torch))
    kinds = [
        re.findall(r"= ([a-z]+::\w+(?:\[[^\]]*\])?)", str(t.graph) + str(t.inner.graph))
        for t in (ours, theirs)
    ]
    assert kinds[0] == kinds[1]
    x, y = ts.rand(4, 3), torch.zeros(4, 3)
    y.numpy()[...] = x.numpy()
    assert flat(ours(x)) == pytest.approx(flat(theirs(y)))
    assert str(ours.forward.schema).split("(")[0] == str(theirs.forward.schema).split("(")[0]


def test_forks():
    def make(m):
        return lambda x, y: m.jit.wait(m.jit.fork(lambda a, b: (a + b, a), x, y))[0]

    (_, ours), (_, theirs) = traces(make)
    kinds = [re.findall(r"= ([a-z]+::\w+)", str(trace.graph)) for trace in (ours, theirs)]
    assert kinds[0] == kinds[1]
