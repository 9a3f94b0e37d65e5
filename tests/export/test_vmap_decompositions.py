"""Decomposed programs with `vmap` contain no batching steps and equal eager `vmap`."""

import pytest

import ts

pytest.importorskip("sympy")
from ts._higher_order_ops import associative_scan
from ts.func import vmap

AUTO = ts.export.Dim.AUTO


class Net(ts.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear = ts.nn.Linear(3, 3)
        self.register_buffer("seen", ts.ones(3))
        self.function = function

    def forward(self, *args):
        return self.function(self, *args)


def _in_place(net, x):
    def row(r):
        y = r.clone()
        y[0] = r.sum()
        y[1:].mul_(r[1:] + 2)
        y.unsqueeze_(0).add_(1)
        return y, r.to(ts.float64), r.to(r.sum() > 0)

    return vmap(row)(x)


def _of_several(net, x):
    def row(r):
        big, at = r.max(0)
        a, b = r.split([1, 2])
        return {"a": a + at, "b": (b, big), "n": r.new_zeros(2) + r.shape[0]}

    return vmap(row, out_dims=0)(x)


def _lookup(net, x):
    return vmap(lambda r, i: r[i] * r.gather(0, i), in_dims=(0, None))(x, ts.tensor([2, 0]))


PROGRAMS = {
    "elements": lambda net, x: vmap(lambda r: r.sin() * r.sum() + net.seen)(x),
    "layers": lambda net, x: vmap(lambda r: net.linear(r).softmax(-1))(x),
    "dimensions": lambda net, x: vmap(lambda c: c - c.mean(), in_dims=1, out_dims=1)(x),
    "nested": lambda net, x: vmap(lambda r: vmap(lambda s: (r @ s).relu())(x), out_dims=1)(x),
    "twice": lambda net, x: vmap(vmap(lambda e: e * 2 + 1))(x),
    "products": lambda net, x: vmap(lambda r: r.outer(r) @ net.linear.weight)(x),
    "norms": lambda net, x: vmap(lambda r: ts.nn.functional.layer_norm(r, (3,)))(x),
    "outside": lambda net, x: vmap(lambda r: (net.seen * 2, r), out_dims=(None, 0))(x),
    "same": lambda net, x: vmap(lambda r: net.seen * 2)(x),
    "choice": lambda net, x: vmap(lambda r: ts.where(r > 0, r, r.exp()).cumsum(0).flip(0))(x),
    "in_place": _in_place,
    "of_several": _of_several,
    "lookup": _lookup,
    "scan": lambda net, x: associative_scan(
        lambda a, b: a * b + a.cos(), x, dim=1, combine_mode="generic", reverse=True
    ),
    "scan_of_trees": lambda net, x: associative_scan(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x.sin()), dim=1, combine_mode="generic"
    ),
    "matrices": lambda net, x: vmap(lambda r: ts.linalg.vector_norm(r) + ts.einsum("i,j->", r, r))(x),
}


def _has_steps(program):
    return any("predispatch" in str(getattr(n.target, "__module__", "")) for n in program.graph.nodes)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_decomposed(name, dynamic):
    net = Net(PROGRAMS[name])
    shapes = {"args": ({0: AUTO},)} if dynamic else None
    program = ts.export.export(net, (ts.rand(4, 3) + 0.1,), dynamic_shapes=shapes)
    assert _has_steps(program)
    core = program.run_decompositions()
    assert not _has_steps(core)
    core.validate()
    run, plain = core.module(), program.module()
    for n in (4, 5, 2, 7) if dynamic else (4, 4, 4):
        x = ts.randn(n, 3)
        expected = net(x)
        ts.testing.assert_close(plain(x), expected)
        ts.testing.assert_close(run(x), expected)
    assert run._runner.compiled is not None


def test_buffers_written_inside():
    def forward(net, x):
        def row(r, s):
            s.add_(r)
            return s * 2

        return vmap(row)(x, net.seen)

    net = Net(forward)
    run = ts.export.export(net, (ts.ones(3),)).run_decompositions().module()
    assert run(ts.ones(3)).tolist() == [4, 4, 4]
    assert run.seen.tolist() == [2, 2, 2]


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_random_numbers(randomness):
    net = Net(lambda net, x: vmap(lambda r: ts.rand(3) + 0 * r, randomness=randomness)(x))
    run = ts.export.export(net, (ts.ones(4, 3),)).run_decompositions().module()
    for _ in range(3):
        found = run(ts.ones(4, 3))
        assert ts.equal(found[0], found[1]) == (randomness == "same")
        ts.manual_seed(1)
        expected = net(ts.ones(4, 3))
        ts.manual_seed(1)
        assert ts.equal(run(ts.ones(4, 3)), expected)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda net, x: vmap(lambda r: ts.rand(3) + r)(x), RuntimeError, "randomness error mode"),
        (lambda net, x: vmap(lambda r: net.seen.mul_(r))(x), RuntimeError, "is not possible because"),
        (
            lambda net, x: vmap(lambda r: ts.cond(x.sum() > 0, lambda r: r + 1, lambda r: r * 2, (r * 2,)))(
                x
            ),
            ts.errors.UserError,
            "cond inside of vmap",
        ),
    ],
)
def test_unsupported_decompositions(function, error, message):
    program = ts.export.export(Net(function), (ts.ones(4, 3),))
    with pytest.raises(error, match=message):
        program.run_decompositions()


def test_batch_size_stays_dynamic():
    program = ts.export.export(
        Net(PROGRAMS["elements"]), (ts.ones(4, 3),), dynamic_shapes={"args": ({0: AUTO},)}
    )
    assert [str(r) for r in program.range_constraints.values()] == ["VR[2, int_oo]"]
    assert program.module()(ts.ones(1, 3)).shape == (1, 3)


def test_errors_end_batches():
    """An error inside of `vmap` ends its transform level, so that later calls are correct."""
    net = Net(lambda net, x, i: vmap(lambda r: r[i].sin())(x))
    program = ts.export.export(
        net, (ts.zeros(4, 3), ts.tensor([0, 2])), dynamic_shapes={"args": ({0: AUTO}, {0: AUTO})}
    )
    module, x = program.module(), ts.ones(2, 3)
    for _ in range(2):
        with pytest.raises(IndexError):
            module(x, ts.tensor([0, 7]))
        assert ts.ones(2).requires_grad_().requires_grad
        ts.testing.assert_close(module(x, ts.tensor([0, 1])), net(x, ts.tensor([0, 1])))
