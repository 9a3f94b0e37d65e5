"""Exported programs lowered to compiler graphs return the results of their Python code bit for bit."""

import operator
import re

import pytest

import ts
from tests.export.single_op_programs import PROGRAMS, module_of, programs

pytest.importorskip("sympy")
from ts.export.lowering import UnsupportedNodeError, _may_be_long, lower_graph_module

RANDOM_OPERATORS = re.compile("rand|dropout|rrelu|bernoulli|multinomial|empty|cov")
BY_PYTHON = {
    "1-x",
    "x.logit()",
    "x+torch.linspace(0,1,3)",
}  # a number replaces the first operand, which is a tensor in the schema


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", PROGRAMS)
def test_programs(family):
    for text, shapes in programs(family):
        if RANDOM_OPERATORS.search(text):
            continue
        args = tuple(ts.rand(shape) for shape in shapes)
        program = ts.export.export(module_of(text, len(shapes), ts), args)
        run = lower_graph_module(program.graph_module)
        ours, plain = ([x.clone() for x in args] for _ in range(2))
        state = program._lifted()
        found, wanted = run(*state, *ours), list(program.graph_module(*state, *plain))
        ts.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True, msg=text)
        ts.testing.assert_close(ours, plain, rtol=0, atol=0, msg=text)


@pytest.mark.parametrize("text", sorted(BY_PYTHON))
def test_unsupported_nodes_run_in_python(text):
    x = ts.rand(3)
    program = ts.export.export(module_of(text, 1, ts), (x,)).run_decompositions()
    with pytest.raises(UnsupportedNodeError):
        lower_graph_module(program.graph_module)
    module = program.module()
    assert ts.equal(module(x), module(x)) and ts.equal(module(x), module(x))


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(4, 4)
        self.register_buffer("calls", ts.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        for _ in range(3):
            x = ts.tanh(self.linear(x)) + x.shape[0]
        return {"out": x, "calls": self.calls.clone(), "n": x.shape[0] * 2}


def test_from_the_second_call_on():
    net, x = Net(), ts.rand(5, 4)
    program = ts.export.export(net, (x,), dynamic_shapes={"x": {0: ts.export.Dim("n", min=2)}})
    module = program.module()
    results = [module(x) for _ in range(3)]
    assert module._runner.compiled is not None
    assert [r["calls"].item() for r in results] == [1, 2, 3]
    assert [r["n"] for r in results] == [10] * 3
    assert ts.equal(results[0]["out"], results[1]["out"]) and ts.equal(results[1]["out"], results[2]["out"])
    assert module(ts.rand(7, 4))["n"] == 14
    gradients = []
    for run in (net, module):
        net.linear.zero_grad()
        run(x)["out"].sum().backward()
        gradients.append(net.linear.weight.grad.clone())
    ts.testing.assert_close(*gradients)
    with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[1\] == 4"):
        module(ts.rand(5, 3))


def _sines_to_cosines(module):
    for node in module.graph.nodes:
        if str(node.target) == "aten.sin.default":
            node.target = ts.ops.aten.cos.default


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_edited_graph_runs_as_edited(calls):
    x = ts.rand(3)
    program = ts.export.export(module_of("x.sin()*2", 1, ts), (x,))
    module = program.module()
    for _ in range(calls):
        module(x)
    _sines_to_cosines(module)
    for _ in range(3):
        ts.testing.assert_close(module(x), x.sin() * 2)  # runs its old code until `recompile`
    module.recompile()
    for _ in range(3):
        ts.testing.assert_close(module(x), x.cos() * 2)
        ts.testing.assert_close(program.module()(x), x.sin() * 2)


class Grows(ts.nn.Module):
    def forward(self, x, k):
        n = k.item()
        m = n * n * n + n - 1
        return x * ts.sym_float(m), m, -n


@pytest.mark.parametrize("n", [3, -5, 2**21, 2**31, -(2**40), 2**62, 2**63 - 1, -(2**63)])
def test_integers_have_arbitrary_precision(n):
    ones = ts.ones(2, dtype=ts.float64)
    module = ts.export.export(Grows(), (ones, ts.tensor(2))).module()
    for _ in range(3):
        x, m, negative = module(ones, ts.tensor(n))
        assert m == n**3 + n - 1 and negative == -n
        ts.testing.assert_close(x, ones * float(m))
    assert module._runner.compiled is not None


class Writes(ts.nn.Module):
    def forward(self, x, k):
        x.add_(1)
        return k.item() * 2


def test_integer_overflow_does_not_repeat_writes():
    """A call that overflows 64 bits is repeated in Python without repeating its writes."""
    module = ts.export.export(Writes(), (ts.ones(2), ts.tensor(2))).module()
    x = ts.zeros(2)
    for k in range(1, 5):
        assert module(x, ts.tensor(2**62)) == 2**63
        assert x.tolist() == [k, k]


def test_sizes_within_memory_need_no_overflow_check():
    auto = ts.export.Dim.AUTO
    program = ts.export.export(
        module_of("x.reshape(x.shape[0] * x.shape[1])", 1, ts),
        (ts.ones(3, 4),),
        dynamic_shapes={"x": {0: auto, 1: auto}},
    )
    (product,) = [n.meta["val"] for n in program.graph.nodes if n.target is operator.mul]
    assert not _may_be_long(product) and _may_be_long(product * product)


# ---- control flow ----------------------------------------------------------------------------------------------


class Chooses(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(3, 3)

    def forward(self, x):
        return ts.cond(x.sum() > 0, lambda x: (self.linear(x) + 1, x - 1), lambda x: (x.cos(), x * 2), (x,))


class Repeats(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(3, 3)

    def forward(self, x):
        def step(i, y):
            return i + 1, self.linear(y).relu() + i

        return ts.while_loop(lambda i, y: i < 5, step, (ts.tensor(0), x))


class Nested(ts.nn.Module):
    def forward(self, x):
        def step(i, y):
            return i + 1, ts.cond(y.sum() > 10, lambda y: y * 3, lambda y: y * 2, (y,))

        return ts.while_loop(lambda i, y: y.sum() < 100, step, (0, x.abs() + 1))


@pytest.mark.parametrize("kind", [Chooses, Repeats, Nested])
@pytest.mark.parametrize("decomposed", [False, True])
def test_branches_and_loops_are_compiled(kind, decomposed):
    module = kind()
    program = ts.export.export(module, (ts.ones(2, 3),), dynamic_shapes=({0: ts.export.Dim.AUTO},))
    runs = (program.run_decompositions() if decomposed else program).module()
    for n in range(6):
        x = ts.randn(2 + n, 3).abs() * (-1) ** n
        found, expected = map(ts.utils._pytree.tree_leaves, (runs(x), module(x)))
        for a, b in zip(found, expected, strict=True):
            assert ts.allclose(ts.as_tensor(a), ts.as_tensor(b), rtol=1e-6)
    assert runs._runner.compiled is not None


def test_gradients_of_branches_and_loops():
    for kind in (Chooses, Repeats):
        module = kind()
        runs = ts.export.export(module, (ts.ones(2, 3),)).module()
        for _ in range(3):
            wanted = []
            x = ts.rand(2, 3)
            for each in (runs, module):
                given = x.clone().requires_grad_()
                module.zero_grad()
                sum(y.sum() for y in each(given) if y.is_floating_point()).backward()
                wanted.append((given.grad, module.linear.weight.grad.clone()))
            for a, b in zip(*wanted, strict=True):
                assert ts.allclose(a, b, rtol=1e-5)


def _loops():
    from ts._higher_order_ops import map, scan, while_loop

    def rows(net, x):
        return map(lambda r: net.linear(r).relu(), x)

    def trees(net, x):
        return map(lambda r, s, n: (r[0] + s, None, {"b": r[1] * n}), (x, x * 2), x.sum(), 3)

    def carries(net, x):
        return scan(lambda c, r: (net.linear(c) + r, c * r), ts.zeros(3), x)

    def backwards(net, x):
        def step(c, r):
            return (c[0] + r[0], c[1] * r[1].sum()), (c[0].clone(), r[1] + c[1])

        return scan(step, (ts.zeros(3), ts.ones(())), (x, x.cos()), reverse=True)

    def scan_in_map(net, x):
        return map(lambda r: scan(lambda c, e: (c + e, c * e), ts.zeros(()), r), x)

    def map_in_scan(net, x):
        return scan(lambda c, r: (c + r, map(lambda e: e.sin() * c.sum(), r)), ts.zeros(3), x)

    def map_in_cond(net, x):
        def no(x):
            return map(lambda r: ts.cond(r.sum() > -1, lambda r: r + 1, lambda r: r - 1, (r,)), x)

        return ts.cond(x.sum() > 0, lambda x: map(lambda r: r * 2, x), no, (x,))

    def scan_in_while(net, x):
        def step(i, y):
            return i + 1, scan(lambda c, r: (c + r, c.tanh()), y[0].clone(), y)[1]

        return while_loop(lambda i, y: i < 3, step, (ts.tensor(0), x))

    def sizes(net, x):
        return map(lambda r: r * x.shape[0], x)

    return [rows, trees, carries, backwards, scan_in_map, map_in_scan, map_in_cond, scan_in_while, sizes]


class Rows(ts.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear = ts.nn.Linear(3, 3)
        self.function = function

    def forward(self, x):
        return self.function(self, x)


@pytest.mark.parametrize("decomposed", [False, True])
def test_constants_of_branches_and_loops(decomposed):
    """Constant tensors of branches and loops are unchanged in each call."""

    def counted(i, y):
        step = ts.tensor([1.0, 2.0, 3.0])
        return i + 1, y + step * 2

    def function(net, x):
        from ts._higher_order_ops import map, scan, while_loop

        a = ts.cond(x.sum() > 0, lambda x: x * ts.tensor([1.0, 2, 3]), lambda x: x - ts.tensor(4), (x,))
        b = map(lambda row: row * ts.tensor(2.0) + map(lambda e: e * ts.tensor(3), row), x)
        (c, d) = scan(lambda c, row: (c + row * ts.tensor(2), c * ts.tensor([2])), ts.zeros(3), x)
        return a, b, c, d, while_loop(lambda i, y: i < ts.tensor(3), counted, (ts.tensor(0), x))

    net = Rows(function)
    program = ts.export.export(net, (ts.ones(4, 3),), dynamic_shapes=({0: ts.export.Dim.AUTO},))
    module = (program.run_decompositions() if decomposed else program).module()
    for n in (4, 5, 2, 3):
        x = ts.randn(n, 3)
        ts.testing.assert_close(module(x), net(x))
    assert module._runner.compiled is not None


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("function", _loops(), ids=lambda f: f.__name__)
def test_map_and_scan_are_compiled(function, decomposed):
    net = Rows(function)
    program = ts.export.export(net, (ts.ones(4, 3),), dynamic_shapes=({0: ts.export.Dim.AUTO},))
    program = program.run_decompositions() if decomposed else program
    module = program.module()
    for n in (4, 5, 2, 3):
        x = ts.randn(n, 3)
        found = [y for y in ts.utils._pytree.tree_leaves(module(x)) if y is not None]
        plain = [y for y in program.graph_module(*program._lifted(), x) if y is not None]
        ts.testing.assert_close(found, plain, rtol=0, atol=0)
        eager = [y for y in ts.utils._pytree.tree_leaves(net(x)) if y is not None]
        ts.testing.assert_close(found, eager)
    assert module._runner.compiled is not None


def test_gradients_of_map_and_scan():
    for function in _loops()[:4]:
        net = Rows(function)
        module = ts.export.export(net, (ts.ones(4, 3),)).module()
        for _ in range(3):
            found, x = [], ts.rand(4, 3)
            for each in (module, net):
                given = x.clone().requires_grad_()
                net.zero_grad()
                leaves = ts.utils._pytree.tree_leaves(each(given))
                sum(y.sin().sum() for y in leaves if y is not None).backward()
                found.append((given.grad, net.linear.weight.grad))
            assert (found[0][1] is None) == (found[1][1] is None)
            ts.testing.assert_close(*([x for x in each if x is not None] for each in found))


@pytest.mark.parametrize(
    ("function", "shapes", "message"),
    [
        (lambda x, y: map_of(lambda r: r[0] + r[1], (x, y)), ((0, 3), (0, 3)), "cannot be 0"),
        (lambda x, y: map_of(lambda r: r[0] + r[1], (x, y)), ((4, 3), (5, 3)), "must be consistent"),
        (lambda x, y: map_of(lambda r: r[0] + r[1], (x, y)), ((4, 3), (3, 3)), "must be consistent"),
        (lambda x, y: scan_of(lambda c, r: (c + r, c * r), y[0], x), ((0, 3), (4, 3)), "scan dimension > 0"),
    ],
)
def test_errors_of_map_and_scan_equal_python(function, shapes, message):
    class Net(ts.nn.Module):
        def forward(self, x, y):
            return function(x, y)

    module = ts.export.export(Net(), (ts.ones(4, 3), ts.ones(4, 3))).module(check_guards=False)
    wrong = [ts.ones(shape) for shape in shapes]
    with pytest.raises(RuntimeError, match=message):
        module(*wrong)
    for _ in range(2):
        module(ts.ones(4, 3), ts.ones(4, 3))
    assert module._runner.compiled is not None
    with pytest.raises(RuntimeError, match=message):
        module(*wrong)


def map_of(*args):
    from ts._higher_order_ops import map

    return map(*args)


def scan_of(*args):
    from ts._higher_order_ops import scan

    return scan(*args)
