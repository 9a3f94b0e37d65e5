"""Programs with control flow operators for either package, valid and invalid ones.

Each takes the package `T` and the operators `H`, and returns a function and its arguments.
"""

from types import SimpleNamespace

PROGRAMS = {}
REJECTED = {}


def program(table, **facts):
    """Register a program in a table; facts: `dynamic` (dynamic dimensions), `gradients` (if compared)."""

    def put(function):
        table[function.__name__] = SimpleNamespace(
            make=function, **{"dynamic": None, "gradients": True, **facts}
        )
        return function

    return put


def operators(package):
    """Return the control flow operators of a package by name."""
    found = package._higher_order_ops
    names = ("cond", "while_loop", "map", "scan", "associative_scan")
    return SimpleNamespace(**{name: getattr(found, name) for name in names})


def rows(T, *shape):
    """Return a tensor of distinct numbers."""
    count = 1
    for n in shape:
        count *= n
    return (T.arange(count, dtype=T.float32) / 7 - 0.5).reshape(shape)


# ---- cond


@program(PROGRAMS)
def cond_takes_a_branch(T, H):
    return lambda x, p: H.cond(p, lambda x: x.sin(), lambda x: x.cos(), (x,)), (
        rows(T, 2, 3),
        T.tensor(False),
    )


@program(PROGRAMS)
def cond_trees(T, H):
    def yes(d):
        return {"a": d["a"] + 1, "b": [d["b"][0] * 2]}

    def no(d):
        return {"a": d["a"] - 1, "b": [d["b"][0] * 3]}

    return lambda x, y, p: H.cond(p, yes, no, ({"a": x, "b": [y]},)), (
        rows(T, 2),
        rows(T, 3),
        T.tensor([True]),
    )


@program(PROGRAMS)
def cond_closures(T, H):
    def f(x, y, z, p):
        w = y + z
        return H.cond(p, lambda x: x + y * w, lambda x: x - z, (x,))

    return f, (rows(T, 3), rows(T, 3), rows(T, 3), T.tensor(True))


@program(PROGRAMS)
def cond_without_operands(T, H):
    return lambda x, p: H.cond(p, lambda: x + 1, lambda: x * 2), (rows(T, 3), T.tensor(True))


@program(PROGRAMS)
def cond_nested(T, H):
    def inner(x, q):
        return H.cond(q, lambda x: x + 1, lambda x: x.exp(), (x,))

    return (
        lambda x, p, q: H.cond(p, lambda x: inner(x * 2, q), lambda x: x - 1, (x,)),
        (rows(T, 3), T.tensor(True), T.tensor(False)),
    )


@program(PROGRAMS)
def cond_twice(T, H):
    def f(x, p):
        y = H.cond(p, lambda x: x + 1, lambda x: x - 1, (x,))
        return H.cond(p, lambda x: x * y, lambda x: x - 1, (x,))

    return f, (rows(T, 3), T.tensor(True))


@program(PROGRAMS, dynamic={0: 0})
def cond_on_a_size(T, H):
    return lambda x: H.cond(x.shape[0] > 4, lambda x: x * 2, lambda x: x * x.shape[0], (x,)), (rows(T, 6, 2),)


@program(PROGRAMS, dynamic={0: 0})
def cond_takes_a_size(T, H):
    def f(x, p):
        n = x.shape[0]
        return H.cond(p, lambda x: x * n, lambda x: x + n + 1, (x,))

    return f, (rows(T, 6, 2), T.tensor(True))


@program(PROGRAMS)
def cond_numbers(T, H):
    return lambda x, p: H.cond(p, lambda x: x[1:] * 2, lambda x: x[:-1] * 3, (x,)), (
        rows(T, 4),
        T.tensor(False),
    )


@program(PROGRAMS)
def cond_constants(T, H):
    return (
        lambda x, p: H.cond(p, lambda x: x + T.tensor([1.0, 2.0, 3.0]), lambda x: x * 2, (x,)),
        (rows(T, 2, 3), T.tensor(True)),
    )


# ---- while_loop


@program(PROGRAMS)
def while_counts(T, H):
    return lambda i, x: H.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 1.5), (i, x)), (
        T.tensor(0),
        rows(T, 2, 3),
    )


@program(PROGRAMS, gradients=False)  # PyTorch returns the gradients of one iteration
def while_never(T, H):
    return lambda i, x: H.while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * 2), (i, x)), (
        T.tensor(0),
        rows(T, 2, 3),
    )


@program(PROGRAMS, gradients=False)
def while_tree(T, H):
    def body(d):
        return ({"i": d["i"] + 1, "x": d["x"] * 2},)

    return lambda i, x: H.while_loop(lambda d: d["i"] < 3, body, ({"i": i, "x": x},)), (
        T.tensor(0),
        rows(T, 2),
    )


@program(PROGRAMS)
def while_closures(T, H):
    def f(i, x, y, n):
        z = y + 1
        return H.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * z), (i, x))

    return f, (T.tensor(0), rows(T, 2, 3), rows(T, 2, 3), T.tensor(2))


@program(PROGRAMS, dynamic={1: 0}, gradients=False)
def while_takes_a_size(T, H):
    def f(i, x):
        n = x.shape[0]
        return H.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * n), (i, x))

    return f, (T.tensor(0), rows(T, 3, 2))


@program(PROGRAMS, gradients=False)
def cond_in_while(T, H):
    def body(i, x):
        return i + 1, H.cond(i > 1, lambda a: a + 1, lambda a: a - 1, (x,))

    return lambda i, x: H.while_loop(lambda i, x: i < 3, body, (i, x)), (T.tensor(0), rows(T, 3))


@program(PROGRAMS, gradients=False)
def while_in_cond(T, H):
    def yes(i, x):
        return H.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (i, x))[1]

    return lambda i, x, p: H.cond(p, yes, lambda i, x: x + 1, (i, x)), (
        T.tensor(0),
        rows(T, 3),
        T.tensor(True),
    )


# ---- map, scan, associative_scan


@program(PROGRAMS)
def map_rows(T, H):
    return lambda x, y: H.map(lambda row, y: (row @ y).relu(), x, y), (rows(T, 4, 2, 3), rows(T, 3, 5))


@program(PROGRAMS, dynamic={0: 0})
def map_tree(T, H):
    def f(x, y, z):
        return H.map(lambda r: {"a": r[0] * z, "b": (r[1].sum(),)}, [x, y])

    return f, (rows(T, 2, 3), rows(T, 2, 3), rows(T, 3))


@program(PROGRAMS)
def cond_in_map(T, H):
    def f(x, p):
        return H.map(lambda r, p: H.cond(p, lambda r: r.exp(), lambda r: r.neg(), (r,)), x, p)

    return f, (rows(T, 3, 2), T.tensor(True))


@program(PROGRAMS)
def scan_rows(T, H):
    return lambda c, x: H.scan(lambda c, r: (c + r, c * r), c, x), (rows(T, 3), rows(T, 4, 3))


@program(PROGRAMS, gradients=False)
def scan_backwards(T, H):
    return lambda c, x: H.scan(lambda c, r: (c + r, c * r), c, x, dim=1, reverse=True), (
        rows(T, 2),
        rows(T, 2, 3),
    )


@program(PROGRAMS)
def scan_tree(T, H):
    def f(c, x, w):
        return H.scan(lambda c, r: ({"h": c["h"] * w + r[0]}, [r[1] * 2, c["h"] + 1]), {"h": c}, (x, x * 2))

    return f, (rows(T, 3), rows(T, 4, 3), rows(T, 3))


@program(PROGRAMS, gradients=False)
def cond_in_scan(T, H):
    def step(c, r, p):
        return H.cond(p, lambda a: a + 1, lambda a: a - 1, (c,)), r * 2

    return lambda c, x, p: H.scan(lambda c, r: step(c, r, p), c, x), (
        rows(T, 3),
        rows(T, 2, 3),
        T.tensor(True),
    )


@program(PROGRAMS)
def associative_scan_odd(T, H):
    return lambda x: H.associative_scan(lambda a, b: a + b, x, dim=0, combine_mode="generic"), (
        rows(T, 5, 2),
    )


@program(PROGRAMS)
def associative_scan_tree(T, H):
    def combine(a, b):
        return {"p": a["p"] * b["p"], "q": a["q"] * b["p"] + b["q"]}

    return (
        lambda x, y: H.associative_scan(combine, {"p": x, "q": y}, 1, reverse=True, combine_mode="generic"),
        (rows(T, 2, 4), rows(T, 2, 4)),
    )


# ---- rejected


def _cond(first, second):
    def make(T, H):
        return lambda x, p: H.cond(p, first, second, (x,)), (rows(T, 2, 3), T.tensor(True))

    return make


def _plain(run):
    def make(T, H):
        return lambda x, p: run(T, H, x, p), (rows(T, 2, 3), T.tensor(True))

    return make


def _loop(cond_fn, body_fn):
    def make(T, H):
        return lambda i, x: H.while_loop(cond_fn, body_fn, (i, x)), (T.tensor(0), rows(T, 2, 3))

    return make


def _scan(combine):
    def make(T, H):
        return lambda c, x: H.scan(combine, c, x), (rows(T, 3), rows(T, 2, 3))

    return make


def _associative(T, H, x, f=lambda a, b: a + b, dim=0, **options):
    return H.associative_scan(f, x, dim, **{"combine_mode": "generic", **options})


def return_twice(x, *_):
    """Return the same result twice."""
    y = x + 1
    return y, y


def _appends(T, H, x, p):
    seen = []

    def yes(x):
        seen.append(x)
        return x + 1

    return H.cond(p, yes, lambda x: x - 1, (x,))


REJECTED |= {
    "side effect": _plain(_appends),
    "pred of two": _plain(lambda T, H, x, p: H.cond(T.stack([p, p]), lambda x: x, lambda x: x, (x,))),
    "pred is text": _plain(lambda T, H, x, p: H.cond("a", lambda x: x, lambda x: x, (x,))),
    "no callable": _plain(lambda T, H, x, p: H.cond(p, 3, lambda x: x, (x,))),
    "operands no tuple": _plain(lambda T, H, x, p: H.cond(p, lambda x: x, lambda x: x, x)),
    "operands a number": _plain(lambda T, H, x, p: H.cond(p, lambda x, n: x, lambda x, n: x, (x, 3))),
    "wrong arity": _plain(lambda T, H, x, p: H.cond(p, lambda x, y: x + 1, lambda x: x + 2, (x,))),
    "dtypes": _cond(lambda x: x + 1, lambda x: x.double()),
    "dimensions": _cond(lambda x: x + 1, lambda x: x.sum()),
    "count": _cond(lambda x: (x + 1, x + 2), lambda x: x - 1),
    "trees": _cond(lambda x: (x + 1, x + 2), lambda x: [x - 1, x - 2]),
    "none": _cond(lambda x: (x + 1, None), lambda x: (x - 1, None)),
    "float": _cond(lambda x: (x + 1, 1.5), lambda x: (x - 1, 1.5)),
    "input": _cond(lambda x: x, lambda x: x - 1),
    "view": _cond(lambda x: x.view(-1), lambda x: x.reshape(6) + 1),
    "same twice": _cond(return_twice, lambda x: (x + 1, x + 2)),
    "mutation": _cond(lambda x: x.add_(1) + 1, lambda x: x - 1),
    "closure": _plain(lambda T, H, x, p: H.cond(p, lambda y: x[0], lambda y: y[0] + 1, (x + 1,))),
    "loop dtype": _loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.double())),
    "loop count": _loop(lambda i, x: i < 3, lambda i, x: (i + 1,)),
    "loop truth": _loop(lambda i, x: x.sum(), lambda i, x: (i + 1, x * 2)),
    "loop for ever": _loop(lambda i, x: True, lambda i, x: (i + 1, x * 2)),
    "loop input": _loop(lambda i, x: i < 3, lambda i, x: (i + 1, x)),
    "loop mutation": _loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.mul_(2))),
    "loop float": _plain(lambda T, H, x, p: H.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0.5,))),
    "map no tensor": _plain(lambda T, H, x, p: H.map(lambda r: r, [x, 3])),
    "map lengths": _plain(lambda T, H, x, p: H.map(lambda r: r[0] + r[1], [x, x[:1]])),
    "map nothing": _plain(lambda T, H, x, p: H.map(lambda r: r, x[:0])),
    "map input": _plain(lambda T, H, x, p: H.map(lambda r: r, x)),
    "map number": _plain(lambda T, H, x, p: H.map(lambda r: (r + 1, 3), x)),
    "scan dtype": _scan(lambda c, r: ((c + r).double(), c * r)),
    "scan count": _scan(lambda c, r: ((c + r, c + 1), c * r)),
    "scan no pair": _scan(lambda c, r: c + r),
    "scan same": _scan(return_twice),
    "scan input": _scan(lambda c, r: (c + r, r)),
    "scan reverse": _plain(lambda T, H, x, p: H.scan(lambda c, r: (c, r), x[0], x, reverse=1)),
    "scan init": _plain(lambda T, H, x, p: H.scan(lambda c, r: (c, r), 3, x)),
    "scan dim": _plain(lambda T, H, x, p: H.scan(lambda c, r: (c, r), x[0], x, dim=4)),
    "pointwise": _plain(lambda T, H, x, p: _associative(T, H, x, combine_mode="pointwise")),
    "mode": _plain(lambda T, H, x, p: _associative(T, H, x, combine_mode="x")),
    "associative no callable": _plain(lambda T, H, x, p: _associative(T, H, x, 3)),
    "associative nothing": _plain(lambda T, H, x, p: _associative(T, H, x[:0])),
    "associative number": _plain(lambda T, H, x, p: _associative(T, H, x, lambda a, b: (a, b))),
}
