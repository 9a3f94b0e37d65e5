"""Preconditions of operators on data-dependent sizes are checked in each call of an exported program."""

import pytest

import ts
from tests.export.functions import Function
from ts.export import draft_export, export, load, save

pytest.importorskip("sympy")


def scaled(x, y):
    x = x.clone()
    x[x > y] *= 2
    return x


def lowered(x, y):
    x = x.clone()
    x[x > y] = x[x > y] - 1
    return x


def parted(x, y):
    a, b = y.tolist()
    return ts.split(x, [a, b])


def viewed(x, y):
    a, b = y.tolist()
    return x.view(a, b)


def chosen(x):
    return x[x > 0]


def t(*numbers):
    return ts.tensor(numbers)


ONE, TWO, THREE = t(-1.0, 3, -1), t(5.0, -2, 1), t(2.0, 4, 6)

# function | example arguments | other arguments | rejected arguments | asserted conditions other than ranges
CASES = {
    "sum": (lambda x, y: chosen(x) + chosen(y), (TWO, TWO), (ONE, ONE), (ONE, TWO), "Eq(u0, u1)"),
    "with a size": (
        lambda x, y: chosen(x) + y,
        (TWO, t(1.0, 2)),
        (-ONE, t(1.0, 2)),
        (ONE, t(1.0, 2)),
        "Eq(u0, 2)",
    ),
    "cat": (
        lambda x, y: ts.cat([chosen(x)[None], chosen(y)[None]]),
        (TWO, TWO),
        (ONE, ONE),
        (THREE, TWO),
        "Eq(u1, u0)",
    ),
    "stack": (
        lambda x, y: ts.stack([chosen(x), chosen(y)]),
        (TWO, TWO),
        (ONE, ONE),
        (THREE, TWO),
        "Eq(u1, u0)",
    ),
    "dot": (lambda x, y: ts.dot(chosen(x), chosen(y)), (TWO, TWO), (ONE, ONE), (THREE, TWO), "Eq(u0, u1)"),
    "where": (
        lambda x, y: ts.where(chosen(x) > 1, chosen(y), 0.0),
        (TWO, TWO),
        (ONE, ONE),
        (THREE, TWO),
        "Eq(u0, u1)",
    ),
    "scaled": (scaled, (TWO, ts.tensor(0.0)), (ONE, ts.tensor(9.0)), None, None),
    "lowered": (lowered, (TWO, ts.tensor(0.0)), (ONE, ts.tensor(9.0)), None, None),
    "nonzero as floats": (
        lambda x, y: (x[None] > y).nonzero().float().t().double(),
        (TWO, ts.tensor(0.0)),
        (ONE, ts.tensor(9.0)),
        None,
        None,
    ),
    "arange": (
        lambda x, y: x + ts.arange(y.max().item()).sum(),
        (ONE, t(2, 3)),
        (ONE, t(0, 0)),
        (ONE, t(-2, -1)),
        "u0 >= 0",
    ),
    "split": (parted, (THREE, t(1, 2)), (THREE, t(3, 0)), (THREE, t(1, 1)), "Eq(u0 + u1, 3)"),
    "view": (
        viewed,
        (ts.arange(6), t(3, 2)),
        (ts.arange(6), t(1, 6)),
        (ts.arange(6), t(2, 2)),
        "Eq(u0*u1, 6)",
    ),
    "topk": (
        lambda x, y: ts.topk(chosen(x), 2)[0] + y,
        (TWO, TWO[:1]),
        (THREE, ONE[:1]),
        (ONE, ONE[:1]),
        "u0 >= 2",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_assertions(name, tmp_path):
    """A program returns the function's result or raises its error, also decomposed and loaded from a file."""
    function, first, second, refused, condition = CASES[name]
    program = export(Function(function), first)
    asserted = [n.args[1] for n in program.graph.nodes if "_assert_scalar" in str(n.target)]
    if condition is not None:
        assert any(f"expression {condition} on node" in text for text in asserted)
    else:
        assert all("Eq" not in text for text in asserted)
    save(program, tmp_path / "program.pt2")
    loaded = load(tmp_path / "program.pt2")
    for variant in (program, program.run_decompositions(), loaded, draft_export(Function(function), first)):
        module = variant.module()
        for _ in range(2):  # runs as Python first, then compiled
            for args in (first, second):
                found, wanted = module(*args), function(*args)
                for a, b in (
                    zip(found, wanted, strict=True) if isinstance(wanted, list | tuple) else [(found, wanted)]
                ):
                    assert ts.equal(a, b)
            if refused is not None:
                with pytest.raises(RuntimeError, match="Runtime assertion failed for expression"):
                    module(*refused)
