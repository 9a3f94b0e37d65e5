"""Gradients inside of exported programs: backward is a part of the graph and equals eager mode."""

import re

import pytest

import ts
from tests.export.single_op_programs import PROGRAMS as OPERATORS
from tests.export.single_op_programs import module_of, programs

pytest.importorskip("sympy")
from ts.errors import UserError
from ts.func import grad, jacrev, vjp, vmap

AUTO = ts.export.Dim.AUTO


class Net(ts.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear = ts.nn.Linear(3, 3)
        self.norm = ts.nn.LayerNorm(3)
        self.function = function

    def energy(self, x):
        return self.norm(self.linear(x).tanh()).square().sum()

    def forward(self, *args):
        return self.function(self, *args)


def _leaf(x):
    return x.detach().requires_grad_()


def _forces(net, x):
    y = _leaf(x)
    energy = net.energy(y)
    return energy, -ts.autograd.grad(energy, y)[0]


def _enabled(net, x):
    with ts.enable_grad():
        y = x.clone().requires_grad_(True)
        return ts.autograd.grad(net.energy(y), y, create_graph=True)[0].detach()


def _of_parameters(net, x):
    return ts.autograd.grad(net.energy(x), [*net.linear.parameters(), net.norm.weight])


def _twice(net, x):
    y = _leaf(x)
    (first,) = ts.autograd.grad((y.sin() * y).sum(), y, create_graph=True)
    (second,) = ts.autograd.grad(first.square().sum(), y)
    return first.detach(), second


def _in_the_middle(net, x):
    y = _leaf(x)
    z = y * 2
    w = z.exp()
    return ts.autograd.grad((w * z).sum(), [y, z, w])


def _weighted(net, x):
    y = _leaf(x)
    a, b = y.split([1, 2], dim=1)
    return ts.autograd.grad([a.exp(), b.sum()], [y], [x[:, :1], None])[0]


def _unused(net, x):
    y, z = _leaf(x), _leaf(x)
    first = ts.autograd.grad(y.sum(), [y, z], allow_unused=True)
    return first[0], first[1] is None, ts.autograd.grad(y.sum(), [y, z], materialize_grads=True)


def _dtypes(net, x):
    y = _leaf(x)
    z = ts.cat([y.float() * 2, y.to(ts.float32) ** 3]).max(0)
    return ts.autograd.grad(z.values.sum() + (y / 3).sum() + (1 / (2 + y * y)).sum(), y)[0]


def _backward(net, x):
    y = _leaf(x)
    (y.sin() * 2).sum().backward()
    net.energy(y).backward(inputs=[y])
    return y.grad + 1


def _descent(net, x):
    y = _leaf(x)
    for _ in range(3):
        (g,) = ts.autograd.grad((y**2).sum(), y)
        y = _leaf(y - 0.1 * g)
    return y


def _penalty(net, x):
    y = _leaf(x)
    (g,) = ts.autograd.grad(net.linear(y).sigmoid().sum(), y, create_graph=True)
    return (g.norm(dim=1) - 1).square().mean()


PROGRAMS = {
    "forces": _forces,
    "enabled": _enabled,
    "of_parameters": _of_parameters,
    "twice": _twice,
    "in_the_middle": _in_the_middle,
    "weighted": _weighted,
    "unused": _unused,
    "dtypes": _dtypes,
    "backward": _backward,
    "descent": _descent,
    "penalty": _penalty,
    "grad": lambda net, x: grad(net.energy)(x).detach(),
    "grad_of_grad": lambda net, x: grad(lambda y: grad(net.energy)(y).sin().sum())(x).detach(),
    "vjp": lambda net, x: tuple(r.detach() for r in vjp(net.linear, x)[1](x)),
    "grad_for_each": lambda net, x: vmap(grad(lambda r: (r.sin() ** 2).sum()))(x).detach(),
    "jacobian": lambda net, x: jacrev(lambda y: net.linear(y).tanh().sum(0))(x).detach(),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, dynamic):
    net = Net(PROGRAMS[name]).double()
    shapes = {"args": ({0: AUTO},)} if dynamic else None
    program = ts.export.export(net, (ts.rand(4, 3, dtype=ts.float64),), dynamic_shapes=shapes)
    assert all(p.grad is None for p in net.parameters())
    runs = program.module(), program.run_decompositions().module()
    for n in (4, 5, 2) if dynamic else (4, 4):
        x = ts.randn(n, 3, dtype=ts.float64)
        for run in runs:
            ts.testing.assert_close(run(x), net(x))


def test_gradient_penalty():
    """A gradient penalty is differentiable with respect to the parameters when the program runs."""
    net, x = Net(_penalty), ts.rand(4, 3)
    found = []
    for run in (net, ts.export.export(net, (x,)).module()):
        net.zero_grad()
        run(x).backward()
        found.append(net.linear.weight.grad)
    ts.testing.assert_close(*found)


def test_nodes_of_derivative_formulas():
    program = ts.export.export(
        Net(lambda net, x: ts.autograd.grad((y := _leaf(x)).mul(y).sum(), y)), (ts.rand(4, 3),)
    )
    names = [str(n.target).split(".")[1] for n in program.graph.nodes if n.op == "call_function"]
    assert names == ["detach", "mul", "sum", "ones_like", "expand", "mul", "mul", "add"]


def _written(net, x):
    y = _leaf(x)
    z = y.clone()
    z.mul_(y)
    return ts.autograd.grad(z.sum(), y)


def _chosen(net, x):
    y = _leaf(x)
    z = ts.cond(x.sum() > 0, lambda y: y * 2, lambda y: y * 3, (y,))
    return ts.autograd.grad(z.sum(), y)


def _drawn(net, x):
    y = _leaf(x)
    return ts.autograd.grad(ts.nn.functional.alpha_dropout(y, 0.5, training=True).sum(), y)


def _left(net, x):
    net.energy(x).backward()


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (_written, UserError, "aten::mul_.Tensor writes in place"),
        (_chosen, UserError, "not supported through cond"),
        (_drawn, UserError, "draws random numbers"),
        (lambda net, x: ts.func.jvp(ts.sin, (x,), (x,)), UserError, "forward mode"),
        (_left, UserError, "would set gradients of parameters"),
        (lambda net, x: ts.autograd.grad(x.sum(), x), RuntimeError, "does not require grad"),
        (lambda net, x: ts.autograd.grad(_leaf(x).sum(), _leaf(x)), RuntimeError, "to not have been used"),
        (
            lambda net, x: ts.autograd.grad((y := _leaf(x)) * 2, y, ts.ones(2, 4, 3), is_grads_batched=True),
            UserError,
            "is_grads_batched",
        ),
    ],
)
def test_unsupported_gradient_programs(function, error, message):
    with pytest.raises(error, match=message):
        ts.export.export(Net(function), (ts.rand(4, 3),))


class _Seven(ts.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        return g * 7


def _written_by(write):
    def function(net, x):
        y = _leaf(x)
        z = y * 1
        write(z, y)
        return ts.autograd.grad((z * z).sum() + y.sum(), y)

    return function


def _filled(net, x):
    y = _leaf(x)
    z = ts.zeros(4, 3)
    z[1:] = y[1:] * 2
    return ts.autograd.grad((z * z).sum() + y.sum(), y)


def _hooked(net, x):
    y = _leaf(x)
    z = y * y
    z.register_hook(lambda g: g * 10)
    return ts.autograd.grad(z.sum(), y)


def _retained(net, x):
    y = _leaf(x)
    z = y * y
    z.retain_grad()
    z.sum().backward()
    return y.grad, z.grad


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_written_by(lambda z, y: z.view(-1).mul_(3)), "mul_.Tensor writes in place"),
        (_written_by(lambda z, y: z[0].copy_(y[1])), "copy_ writes in place"),
        (_written_by(lambda z, y: z.t().float().zero_()), "zero_ writes in place"),
        (
            _written_by(lambda z, y: z[:, ts.tensor([0, 1])].shape and z[:, :1].fill_(2)),
            "fill_.Scalar writes",
        ),
        (_filled, "copy_ writes in place"),
        (lambda net, x: ts.func.grad(lambda y: (_Seven.apply(y) + y * y).sum())(x), "not supported through _Seven"),
        (
            lambda net, x: ts.autograd.grad(_Seven.apply(z := _leaf(x)).sum() + z.sum(), z),
            "not supported through _Seven",
        ),
        (_hooked, "register_hook of an intermediate tensor"),
        (_retained, "retain_grad of an intermediate tensor"),
    ],
)
def test_unsupported_writes_and_hooks(function, message):
    """Writes through views, second derivatives by the program, and hooks are rejected instead of ignored."""
    with pytest.raises(UserError, match=message):
        ts.export.export(Net(function), (ts.rand(4, 3),))


def test_writes_unrelated_to_the_gradient():
    """In-place writes to tensors independent of the gradient are exported."""

    def function(net, x):
        y = _leaf(x)
        mask = ts.zeros(3)
        mask[0] = 2
        total = (y * mask).sum()
        y.detach().clone().view(-1).zero_()
        after = y * 2
        total = total + after.sum()
        after.view(-1).zero_()  # no node saved it
        return ts.autograd.grad(total, y)

    args = (ts.rand(4, 3),)
    net = Net(function)
    ts.testing.assert_close(ts.export.export(net, args).module()(*args), net(*args))


_BY_ELEMENTS = {  # their derivative formulas read element values
    "x.as_strided((2,2),(1,2))",
    "x.prod(1)",
    "x.cumprod(1)",
    "torch.det(x)",
}
_NOT_DIFFERENTIATED = "rand|dropout|bernoulli|multinomial|empty|rrelu"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", OPERATORS)
def test_gradients_of_operators(family):
    """Exported gradients equal eager mode for each differentiable operator."""
    for text, shapes in programs(family):
        if re.search(_NOT_DIFFERENTIATED, text):
            continue
        plain = module_of(text, len(shapes), ts)

        def forward(net, *args, plain=plain):
            given = [_leaf(x) for x in args]
            results = [
                y for y in ts.utils._pytree.tree_leaves(plain(*given))
                if isinstance(y, ts.Tensor) and y.requires_grad
            ]  # fmt: skip
            total = sum(y.abs().sum() for y in results)
            return ts.autograd.grad(total, given, allow_unused=True)

        args = tuple(ts.rand(shape) for shape in shapes)
        net = Net(forward)
        try:
            expected = net(*args)
        except (RuntimeError, NotImplementedError, TypeError, AttributeError):
            continue
        try:
            found = ts.export.export(net, args).module()(*args)
        except UserError as error:
            assert "writes in place" in str(error), text
            continue
        except ts.errors.GuardOnDataDependentSymNode:
            assert text in _BY_ELEMENTS, text
            continue
        ts.testing.assert_close(found, expected, equal_nan=True, msg=text, rtol=1e-4, atol=1e-5)
