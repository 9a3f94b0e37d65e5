"""`func` and `vmap` agree with PyTorch: values, nesting of transforms, errors."""

import warnings

import pytest

import ts

torch = pytest.importorskip("torch")


def numbers(m, *shape):
    n = 1
    for k in shape:
        n *= k
    return (m.arange(n, dtype=m.float64) * 0.7).sin().reshape(shape)


def of_a_view(x):
    y = x + 1
    y[0].mul_(5)
    return y * 1


def and_then(x):
    y = x + 1
    return y.mul_(x), x * 1


def recurrent(m):
    """Recurrent layers use the parameters passed to `functional_call`."""
    found = []
    for kind in (m.nn.LSTM, m.nn.GRU, m.nn.RNN):
        net = kind(3, 2)
        parameters = {k: numbers(m, *v.shape) for k, v in net.named_parameters()}

        def loss(p, net=net):
            return m.func.functional_call(net, p, (numbers(m, 4, 1, 3),))[0].pow(2).sum()

        found.append(m.func.grad_and_value(loss)(parameters))
    return found


def per_sample_gradients(m):
    net = m.nn.Sequential(m.nn.Conv2d(1, 2, 3), m.nn.ReLU(), m.nn.Flatten(0), m.nn.Linear(8, 3)).double()
    parameters = {name: numbers(m, *p.shape) for name, p in net.named_parameters()}

    def loss(parameters, x, y):
        return m.nn.functional.mse_loss(m.func.functional_call(net, parameters, (x,)), y)

    each = m.vmap(m.func.grad(loss), in_dims=(None, 0, 0))
    return each(parameters, numbers(m, 5, 1, 4, 4), numbers(m, 5, 3))


def ensemble(m):
    nets = [m.nn.Linear(3, 2).double() for _ in range(3)]
    for i, net in enumerate(nets):
        for p in net.parameters():
            p.data = numbers(m, *p.shape) * (i + 1)
    parameters, buffers = m.func.stack_module_state(nets)
    x = numbers(m, 4, 3)
    found = m.vmap(lambda p: m.func.functional_call(nets[0], p, (x,)))(parameters)
    return found.detach(), {name: p.requires_grad for name, p in parameters.items()}, buffers


def cube(x):
    return (x**3).sum()


def mixed(x):
    return (x * x.sum()).sin().sum()


CASES = {
    "dot": lambda m: m.vmap(m.dot)(numbers(m, 5, 3), numbers(m, 5, 3)),
    "sum": lambda m: m.vmap(lambda x: x.sum())(numbers(m, 5, 3)),
    "out_dims": lambda m: m.vmap(lambda x: (x + 1, x.sum()), out_dims=(1, 0))(numbers(m, 5, 3)),
    "in_dims": lambda m: m.vmap(lambda x, y: x @ y, in_dims=(2, None))(numbers(m, 5, 3, 2), numbers(m, 3, 4)),
    "trees": lambda m: m.vmap(lambda d, k: {"s": d["a"] + d["b"][0] * k}, in_dims=({"a": 0, "b": (1,)}, None))(
        {"a": numbers(m, 2, 3), "b": (numbers(m, 3, 2),)}, 2.0
    ),
    "inside": lambda m: m.vmap(m.vmap(lambda x, y: x * y, in_dims=(None, 0)), in_dims=(0, None))(
        numbers(m, 4), numbers(m, 3)
    ),
    "chunks": lambda m: m.vmap(lambda x: x.cumsum(0), chunk_size=2)(numbers(m, 5, 3)),
    "written in place": lambda m: m.vmap(lambda x, y: x.clone().mul_(y)[0])(numbers(m, 4, 3), numbers(m, 4)),
    "kept unbatched": lambda m: m.vmap(lambda x: m.ones(2), out_dims=None)(numbers(m, 3)),
    "softmax": lambda m: m.vmap(lambda x: m.nn.functional.softmax(x, 0).max())(numbers(m, 4, 3)),
    "indices": lambda m: m.vmap(lambda x, i: x[i] + x[:, i].sum())(numbers(m, 4, 3, 3), m.tensor([0, 1, 2, 1])),
    "gradient": lambda m: m.func.grad(cube)(numbers(m, 4)),
    "of two": lambda m: m.func.grad(lambda x, y: (x * y).sum(), argnums=(1, 0))(numbers(m, 4), numbers(m, 4) + 1),
    "with more": lambda m: m.func.grad(lambda x: (cube(x), {"x": x * 2}), has_aux=True)(numbers(m, 4)),
    "value too": lambda m: m.func.grad_and_value(cube)(numbers(m, 4)),
    "gradients of a batch": lambda m: m.vmap(m.func.grad(cube))(numbers(m, 4, 2)),
    "one w for all": lambda m: m.vmap(m.func.grad(lambda w, x: ((x * w) ** 3).sum()), in_dims=(None, 0))(
        numbers(m, 2), numbers(m, 4, 2)
    ),
    "gradient of a batch": lambda m: m.func.grad(lambda w, x: m.vmap(lambda x: cube(x * w))(x).sum())(
        numbers(m, 2), numbers(m, 4, 2)
    ),
    "twice": lambda m: m.func.grad(m.func.grad(lambda x: (x**3).sin()))(numbers(m, 2)[1]),
    "jacrev": lambda m: m.func.jacrev(lambda x: x * x.sum())(numbers(m, 3)),
    "jacrev, one row at a time": lambda m: m.func.jacrev(lambda x: x * x.sum(), chunk_size=1)(numbers(m, 3)),
    "jacrev of trees": lambda m: m.func.jacrev(lambda d: {"p": d["a"] * 2, "q": (d["a"].sum(), d["b"])})(
        {"a": numbers(m, 2), "b": numbers(m, 3)}
    ),
    "jacfwd": lambda m: m.func.jacfwd(lambda x: x * x.sum())(numbers(m, 3)),
    "jacfwd of two": lambda m: m.func.jacfwd(lambda x, y: (x * y, y.sum()), argnums=(0, 1))(
        numbers(m, 3), numbers(m, 3) + 1
    ),
    "jacfwd with more": lambda m: m.func.jacfwd(lambda x: (x * x, x.sum()), has_aux=True)(numbers(m, 3)),
    "hessian": lambda m: m.func.hessian(mixed)(numbers(m, 3)),
    "rows of rows": lambda m: m.func.jacrev(m.func.jacrev(mixed))(numbers(m, 3)),
    "columns of columns": lambda m: m.func.jacfwd(m.func.jacfwd(mixed))(numbers(m, 3)),
    "rows of columns": lambda m: m.func.jacrev(m.func.jacfwd(mixed))(numbers(m, 3)),
    "hessians of a batch": lambda m: m.vmap(m.func.hessian(lambda x: (x**3).prod()))(numbers(m, 4, 3)),
    "tangent of the gradient": lambda m: m.func.jvp(m.func.grad(cube), (numbers(m, 4),), (numbers(m, 4),)),
    "gradient of the tangent": lambda m: m.func.grad(
        lambda x: m.func.jvp(lambda y: (y**3 * x).sum(), (x,), (x * 2,))[1]
    )(numbers(m, 4)),
    "tangent of a batch": lambda m: m.func.jvp(m.vmap(cube), (numbers(m, 4, 2),), (numbers(m, 4, 2),)),
    "tangents in trees": lambda m: m.func.jvp(
        lambda d: {"s": d["a"] * d["b"]}, ({"a": numbers(m, 2), "b": numbers(m, 2)},),
        ({"a": numbers(m, 2), "b": numbers(m, 2) + 1},),
    ),
    "vjp": lambda m: m.func.vjp(lambda x, y: (x * y, y), numbers(m, 4), numbers(m, 4))[1](
        (numbers(m, 4), numbers(m, 4))
    ),
    "tangents that are written": lambda m: [
        m.func.jvp(f, (numbers(m, 4),), (numbers(m, 4) + 2,))
        for f in (lambda x: (x + 1).mul_(x), lambda x: m.relu_(x - 0.5) + x, of_a_view, and_then)
    ],
    "vjp of one": lambda m: m.func.vjp(lambda d: d["a"] * 2, {"a": numbers(m, 4)})[1](numbers(m, 4)),
    "other names of operators": lambda m: [
        m.func.grad(f)(numbers(m, 3, 3) + 3 * m.eye(3))
        for f in (m.det, lambda x: m.inverse(x).sum(), lambda x: x.multiply(x).sum())
    ],
    "weights of recurrent layers": recurrent,
    "linearize": lambda m: m.func.linearize(lambda x: (x**3, x.sum()), numbers(m, 4))[1](numbers(m, 4)),
    "per-sample gradients": per_sample_gradients,
    "ensemble": ensemble,
    "gradients of cross entropy": lambda m: m.vmap(m.func.grad(m.nn.functional.cross_entropy))(
        numbers(m, 5, 3), m.tensor([0, 1, 2, 0, 1])
    ),
    "count_nonzero": lambda m: m.vmap(m.count_nonzero)(numbers(m, 5, 3, 2) > 0),
    "batch norm in training": lambda m: m.vmap(m.func.grad(
        lambda x: (m.nn.functional.batch_norm(x, None, None, training=True) ** 3).sum()))(numbers(m, 3, 4, 2)),
    "the same random numbers": lambda m: len(set(m.vmap(lambda x: x * 0 + m.rand(()), randomness="same")(
        numbers(m, 4)).tolist())),
    "different random numbers": lambda m: len(set(m.vmap(lambda x: x * 0 + m.rand(()), randomness="different")(
        numbers(m, 4)).tolist())),
}  # fmt: skip

ERRORS = {
    "no inputs": lambda m: m.vmap(lambda: m.ones(1))(),
    "no tensor": lambda m: m.vmap(lambda x: x)(3),
    "all None": lambda m: m.vmap(lambda x: x, in_dims=None)(numbers(m, 3)),
    "none batched": lambda m: m.vmap(lambda x: x, in_dims=(None,))(numbers(m, 3)),
    "sizes": lambda m: m.vmap(lambda x, y: x)(numbers(m, 3), numbers(m, 4)),
    "in_dim": lambda m: m.vmap(lambda x: x, in_dims=2)(numbers(m, 3)),
    "in_dims' type": lambda m: m.vmap(lambda x: x, in_dims="0")(numbers(m, 3)),
    "result": lambda m: m.vmap(lambda x: 3)(numbers(m, 3)),
    "out_dims None": lambda m: m.vmap(lambda x: x, out_dims=None)(numbers(m, 3)),
    "out_dims' type": lambda m: m.vmap(lambda x: x, out_dims="0")(numbers(m, 3)),
    "chunk_size": lambda m: m.vmap(lambda x: x, chunk_size=0)(numbers(m, 3)),
    "randomness": lambda m: m.vmap(lambda x: x, randomness="some")(numbers(m, 3)),
    "random": lambda m: m.vmap(lambda x: m.randn(3))(numbers(m, 3)),
    "in place": lambda m: m.vmap(lambda x, y: x.add_(y), in_dims=(None, 0))(numbers(m, 2), numbers(m, 3, 2)),
    "no number": lambda m: m.func.grad(lambda x: x)(numbers(m, 3)),
    "no tensor to differentiate": lambda m: m.func.grad(lambda x: 3)(numbers(m, 3)),
    "argnums": lambda m: m.func.grad(cube, argnums=1)(numbers(m, 3)),
    "argnums twice": lambda m: m.func.grad(lambda x, y: cube(x), argnums=(0, 0))(
        numbers(m, 3), numbers(m, 3)
    ),
    "no argnums": lambda m: m.func.grad(cube, argnums=())(numbers(m, 3)),
    "aux": lambda m: m.func.grad(cube, has_aux=True)(numbers(m, 3)),
    "integers out": lambda m: m.func.vjp(lambda x: x.long(), numbers(m, 3)),
    "primals": lambda m: m.func.jvp(cube, numbers(m, 3), numbers(m, 3)),
    "strict": lambda m: m.func.jvp(lambda x: m.ones(1), (numbers(m, 3),), (numbers(m, 3),), strict=True),
    "jacrev's chunks": lambda m: m.func.jacrev(cube, chunk_size=0),
    "batch norm's moments": lambda m: m.vmap(m.nn.BatchNorm1d(2).double())(numbers(m, 3, 4, 2)),
    "no models": lambda m: m.func.stack_module_state([]),
}


def comparable(found):
    if isinstance(found, dict):
        return {name: comparable(x) for name, x in found.items()}
    if isinstance(found, (tuple, list)):
        return tuple(comparable(x) for x in found)
    return (found.tolist(), found.requires_grad) if hasattr(found, "tolist") else found


def close(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(close, a, b))
    return a == pytest.approx(b, rel=1e-9, abs=1e-12) if isinstance(a, float) else a == b


@pytest.mark.parametrize("name", CASES)
def test_results_equal_pytorch(name):
    """Function transforms return PyTorch's results without a fallback warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        got = comparable(CASES[name](ts))
    want = comparable(CASES[name](torch))
    assert close(got, want), (got, want)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_equal_pytorch(name):
    found = []
    for m in (ts, torch):
        with pytest.raises(Exception) as error:
            ERRORS[name](m)
        found.append((type(error.value).__name__, str(error.value).replace("torch.", "ts.")))
    assert found[0][0] == found[1][0], found
    head = 0 if name == "in place" else 40  # PyTorch's message contains the broadcast shape
    assert found[0][1][:head] == found[1][1][:head], found


def test_closures_keep_their_history():
    """Captured tensors get gradients; results without captured tensors have no autograd graph."""
    for m in (ts, torch):
        w = m.ones(2, requires_grad=True)
        found = m.func.grad(lambda x: (x * w).sum())(m.ones(2))
        found.sum().backward()
        assert w.grad.tolist() == [1, 1]
        assert not m.func.grad(cube)(m.ones(2)).requires_grad
        with m.no_grad():
            assert m.func.grad(cube)(w).tolist() == [3, 3]
            assert not m.func.grad(cube)(w).requires_grad


SOMETIMES_REJECTED = [
    lambda m: m.func.vmap(m.Tensor.view_as, in_dims=(1, 0))(m.ones(2, 7, 5), m.ones(7, 10)),
    lambda m: m.func.vmap(m.Tensor.view_as)(m.ones(7, 2, 5), m.ones(7, 10)),
    lambda m: m.func.vmap(m.Tensor.reshape_as, in_dims=(1, 0))(m.ones(2, 7, 5), m.ones(7, 10)),
    lambda m: m.func.vmap(lambda x: x.clone(memory_format=m.channels_last))(m.ones(2, 3, 4, 5)),
    lambda m: m.func.vmap(lambda x: x.clone(memory_format=m.contiguous_format))(m.ones(2, 3, 4, 5)),
    lambda m: m.func.vmap(m.view_as_complex)(m.ones(2)),
    lambda m: m.func.vmap(m.view_as_complex)(m.ones(3, 2)),
    lambda m: m.func.vmap(lambda x, y: m.abs(x, out=y))(m.ones(2, 3), m.ones(2, 3)),
    lambda m: m.func.vmap(lambda x: m.transpose(x, 0, 1))(m.ones(2)),
]


@pytest.mark.parametrize("run", SOMETIMES_REJECTED)
def test_views_and_copies_of_a_batch(run):
    found = []
    for m in (ts, torch):
        try:
            found.append(tuple(run(m).shape))
        except (RuntimeError, IndexError) as error:
            found.append((type(error).__name__, str(error).splitlines()[0].rstrip(".")))
    assert found[0] == found[1]


def test_transposing_a_batched_scalar_returns_it():
    for m in (ts, torch):
        x = m.ones(3)
        assert m.func.vmap(lambda x: m.transpose(x, -1, 0))(x) is x
