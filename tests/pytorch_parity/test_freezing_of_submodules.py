"""Freezing of containers, modules of one class and preserved attributes, compared with PyTorch."""

import re

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402


def modules(m):
    """Return modules with attributes that are written to, by name."""

    class Leaf(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = m.ones(2)
            self.b = m.ones(2)

        def forward(self, x):
            return x + self.a + self.b

        @m.jit.export
        def write_a(self, x):
            self.a[0] += 10
            return self.b

        @m.jit.export
        def write_b(self, x):
            self.b[0] += 20
            return self.a

        @m.jit.export
        def twice(self, x):
            return x * 2

    class Containers(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.t = (m.ones(1), 2)
            self.l = [m.ones(1)]
            self.d = {"k": m.ones(1)}
            self.n = {"k": [1, 2]}
            self.b = m.ones(2)

    class Reads(Containers):
        def forward(self, x):
            return x + self.t[0] + self.l[0] + self.d["k"] + self.n["k"][1]

    class WritesElementOfTuple(Containers):
        def forward(self, x):
            self.t[0].add_(1)
            return x + self.t[0]

    class WritesElementOfList(Containers):
        def forward(self, x):
            self.l[0].add_(1)
            return x + self.l[0]

    class AppendsToElement(Containers):
        def forward(self, x):
            self.n["k"].append(1)
            return x + self.n["k"][0]

    class AppendsToList(Containers):
        def forward(self, x):
            self.l.append(x)
            return x + self.l[0]

    class WritesByWayOfList(Containers):
        def forward(self, x):
            parts = [self.b]
            parts[0].add_(1)
            return x + self.b

    class Two(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Leaf()
            self.second = Leaf()

        def forward(self, x):
            return self.first(x) + self.second(x)

    class WritesOne(Two):
        def forward(self, x):
            return self.first.write_a(x) + self.second(x)

    class WritesBoth(Two):
        def forward(self, x):
            return self.first.write_a(x) + self.second.write_b(x)

    class Returns(Containers):
        def forward(self, x):
            return self.b + 1

    class Conv(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = m.nn.Conv2d(1, 1, 1)
            self.norm = m.nn.BatchNorm2d(1)

        def forward(self, x):
            return self.norm(self.conv(x))

    return {name: cls for name, cls in locals().items() if isinstance(cls, type)}


CASES = [
    *(
        (name, ())
        for name in modules(ts)
        if name not in ("Leaf", "Containers")
    ),
    ("Two", ("first",)),
    ("Two", ("first.twice",)),
    ("Two", ("first.a",)),
    ("WritesOne", ("second",)),
    ("WritesBoth", ("first",)),
]


def frozen(m, name, preserved):
    m.manual_seed(0)
    module = m.jit.script(modules(m)[name]().eval())
    return m.jit.freeze(module, preserved_attrs=list(preserved), optimize_numerics=False)


def graph_and_attributes(module):
    """Return the non-constant nodes of the graph, and the remaining attribute names."""
    lines = [
        re.sub(r" #.*|%[\w.]+|\w*___torch_mangle_\d+\.|__torch__\.[\w.]*", "", line).strip()
        for line in str(module.graph).splitlines()
    ]
    names = ("t", "l", "d", "n", "b", "a", "first", "second", "conv", "norm", "twice", "write_a", "training")
    left = [n for n in names if hasattr(module, n)]
    below = [(p, n) for p in ("first", "second") if p in left for n in names if hasattr(getattr(module, p), n)]
    return [line for line in lines if "prim::Constant" not in line], left, below


@pytest.mark.parametrize("name, preserved", CASES, ids=lambda x: x if isinstance(x, str) else "-".join(x))
def test_remaining_attributes(name, preserved):
    assert graph_and_attributes(frozen(ts, name, preserved)) == graph_and_attributes(frozen(torch, name, preserved))


@pytest.mark.parametrize("name, preserved", CASES, ids=lambda x: x if isinstance(x, str) else "-".join(x))
def test_values_of_two_calls(name, preserved):
    results = []
    for m in (ts, torch):
        module = frozen(m, name, preserved)
        x = m.ones(1, 1, 2, 2) if name == "Conv" else m.ones(2)
        results.append([module(x).flatten().tolist() for _ in range(2)])
    assert results[0] == [pytest.approx(row) for row in results[1]]
