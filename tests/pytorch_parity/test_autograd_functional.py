"""`autograd.functional` agrees with PyTorch: values, shapes, nesting, errors, with all options."""

import itertools

import pytest

import ts

torch = pytest.importorskip("torch")


def rows(x):
    return (x * x).sum(1)


def pair(x, y):
    return x * y, x.sin() + 2 * y


def number(x, y=None):
    return (x**3 * (1 if y is None else y)).sum()


def two(m):
    return m.tensor([[1.0, 2], [3, 4]], requires_grad=True), m.tensor([[0.5, 2], [1, 4]], requires_grad=True)


def vectors(m, name):
    """Yield the calls of a vector product function."""
    x, y = two(m)
    ask = getattr(m.autograd.functional, name)
    of_rows = m.tensor([1.0, 2.0]) if name == "vjp" else y.detach()
    one = m.tensor(1.0)
    yield lambda **k: ask(rows if name in ("vjp", "jvp") else number, x, of_rows, **k)
    yield lambda **k: ask(pair if name in ("vjp", "jvp") else number, (x, y), (y.detach(), x.detach()), **k)
    yield lambda **k: ask(rows, x, **k)
    yield lambda **k: ask(lambda x: x.sum(), m.tensor(3.0), **k)
    yield lambda **k: ask(lambda x: x.exp().sum(), m.tensor(3.0), **k)
    yield lambda **k: ask(pair, (x, y), (y,), **k)
    yield lambda **k: ask(rows, x, (y, y), **k)
    yield lambda **k: ask(pair, (x, y), (y, y[0]), **k)
    yield lambda **k: ask(lambda x, y: x.sum(), (x, y), one if name == "vjp" else (y, y), **k)
    yield lambda **k: ask(lambda x: x.detach().sum(), x, one if name == "vjp" else y, **k)
    yield lambda **k: ask(lambda x: [x], x, one if name == "vjp" else y, **k)
    yield lambda **k: ask(rows, [x], **k)
    yield lambda **k: ask(rows, (x, 2), **k)


def matrices(m):
    x, y = two(m)
    f = m.autograd.functional
    yield lambda **k: f.jacobian(rows, x, **k)
    yield lambda **k: f.jacobian(pair, (x, y), **k)
    yield lambda **k: f.jacobian(lambda x, y: x, (x, y), **k)
    yield lambda **k: f.jacobian(pair, (x, y), strategy="forward-mode", **k)
    yield lambda **k: f.jacobian(rows, x, strategy="sideways", **k)
    yield lambda **k: f.hessian(number, x, **k)
    yield lambda **k: f.hessian(number, (x, y), **k)
    yield lambda **k: f.hessian(lambda x: x.sum(), x, **k)
    yield lambda **k: detached(
        f.hessian(number, (x.detach(), y.detach()), outer_jacobian_strategy="forward-mode", **k)
    )
    yield lambda **k: f.hessian(number, x, outer_jacobian_strategy="sideways", **k)
    yield lambda **k: f.hessian(rows, x, **k)
    yield lambda **k: f.hessian(pair, (x, y), **k)


def detached(found):
    """Detach results, because PyTorch's forward-over-reverse results keep an autograd graph."""
    return type(found)(map(detached, found)) if isinstance(found, (tuple, list)) else found.detach()


def comparable(found):
    """Return nested values with their `requires_grad` flags."""
    if isinstance(found, (tuple, list)):
        return type(found)(comparable(x) for x in found)
    return found.tolist(), found.requires_grad


def outcome(call, options):
    try:
        return comparable(call(**options))
    except Exception as error:
        return type(error).__name__, str(error).replace("ts.", "torch.").replace("torch.tensor.", "")


def close(a, b):
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(close, a, b))
    return pytest.approx(a, rel=1e-5) == b if isinstance(a, float) else a == b


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_products(name, create_graph, strict):
    options = {"create_graph": create_graph, "strict": strict}
    for i, (ours, theirs) in enumerate(zip(vectors(ts, name), vectors(torch, name), strict=True)):
        got, want = outcome(ours, options), outcome(theirs, options)
        if isinstance(want[1], str):
            assert got[0] == want[0], (i, got, want)
            assert got[1].partition("has type")[0] == want[1].partition("has type")[0], i
        else:
            assert close(got, want), (i, got, want)


@pytest.mark.parametrize(
    ("create_graph", "strict", "vectorize"), list(itertools.product([False, True], repeat=3))
)
def test_matrices(create_graph, strict, vectorize):
    options = {"create_graph": create_graph, "strict": strict, "vectorize": vectorize}
    for i, (ours, theirs) in enumerate(zip(matrices(ts), matrices(torch), strict=True)):
        got, want = outcome(ours, options), outcome(theirs, options)
        assert close(got, want), (i, got, want)


def test_under_no_grad():
    for m in (ts, torch):
        x, y = two(m)
        with m.no_grad():
            found = m.autograd.functional.jacobian(rows, x)
            assert found.tolist() == torch.autograd.functional.jacobian(rows, two(torch)[0]).tolist()
            assert not m.autograd.functional.hvp(number, x, y.detach())[1].requires_grad
