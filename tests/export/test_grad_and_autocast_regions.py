"""Grad mode and autocast regions in exported programs have the effect of the eager contexts, as in
PyTorch."""

import io

import pytest

import ts
from ts import nn
from ts.export import export


class Net(nn.Module):
    """Module with two layers and a parameter; `forward` is a given function."""

    def __init__(self, function):
        super().__init__()
        self.a, self.b, self.p = nn.Linear(3, 4), nn.Linear(4, 2), nn.Parameter(ts.ones(3))
        self.function = function

    def forward(self, x):
        return self.function(self, x)


def without_gradients(self, x):
    with ts.no_grad():
        h = self.a(x)
    return self.b(h)


def decorated(self, x):
    @ts.no_grad()
    def first(x):
        return self.a(x)

    return self.b(first(x))


def switched(self, x):
    ts.set_grad_enabled(False)
    h = self.a(x)
    ts.set_grad_enabled(True)
    return self.b(h)


def in_16_bits(self, x):
    with ts.autocast("cpu"):
        h = self.a(x)
        with ts.no_grad():
            k = ts.einsum("ij,kj->ik", x, self.a.weight)
    return h * 2 + k


def written(self, x):
    with ts.no_grad():
        self.p.add_(1)
    return x + self.p


def with_branch(self, x):
    def yes(x):
        with ts.autocast("cpu"):
            return (x @ x.t()).float().sum()

    with ts.no_grad():
        r = ts.cond(x.sum() > 0, yes, lambda x: x.cos().sum(), (x,))
    return self.a(x) * r


FORWARDS = [without_gradients, decorated, switched, in_16_bits, written, with_branch]


def gradients_there(module):
    """Return the names of the parameters with gradients."""
    return [name for name, p in module.named_parameters() if p.grad is not None]


def saved(program):
    """Return the program saved to a file and loaded again."""
    data = io.BytesIO()
    ts.export.save(program, data)
    data.seek(0)
    return ts.export.load(data)


@pytest.mark.parametrize("file", [False, True])
@pytest.mark.parametrize("function", FORWARDS)
def test_calls_equal_the_module(function, file):
    ts.manual_seed(0)
    x, module = ts.rand(2, 3), Net(function)
    with ts.no_grad():
        first, second, third = (module(x) for _ in range(3))
    module.p.data.copy_(ts.ones(3))
    program = export(module, (x,))
    run = (saved(program) if file else program).module()
    for expected in (first, second, third):
        found = run(x)
        assert found.dtype is expected.dtype and ts.equal(found, expected)
    found.float().sum().backward()
    module.p.data.copy_(ts.ones(3))
    module(x).float().sum().backward()
    assert gradients_there(run) == gradients_there(module) != []


@pytest.mark.parametrize("function", FORWARDS)
def test_decomposed_programs_have_no_regions(function):
    ts.manual_seed(0)
    x, module = ts.rand(2, 3), Net(function)
    run = export(module, (x,)).run_decompositions()
    assert all("wrap_with" not in str(node.target) for node in run.graph.nodes)
    found, expected = run.module()(x), None
    module.p.data.copy_(ts.ones(3))
    expected = module(x)
    assert found.dtype is expected.dtype and ts.allclose(found, expected)


def test_graph_is_pytorch_s():
    program = export(Net(without_gradients), (ts.rand(2, 3),))
    assert "submod_3 = self.submod_1" in program.graph_module.code
    assert (
        "linear = torch.ops.higher_order.wrap_with_set_grad_enabled(False, submod_3, x, p_a_weight, p_a_bias)" in program.graph_module.code
    )
    assert program.graph_module.submod_1.code.count("torch.ops.aten.linear.default(x, p_a_weight, p_a_bias)") == 1
    program = export(Net(in_16_bits), (ts.rand(2, 3),))
    assert "wrap_with_autocast('cpu', torch.bfloat16, True, False, submod_3, " in program.graph_module.code


def test_forward_of_an_autograd_function_is_no_region():
    class Double(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    program = export(Net(lambda self, x: Double.apply(self.a(x))), (ts.rand(2, 3),))
    assert all("wrap_with" not in str(node.target) for node in program.graph.nodes)
