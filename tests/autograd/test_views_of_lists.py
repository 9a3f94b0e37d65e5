"""Results of operators on lists of tensors are views: writes to their bases reach them and their gradients."""

import pytest

import ts
from ts.autograd import forward_ad

MAKERS = {
    "broadcast_tensors": lambda a: ts.broadcast_tensors(a, ts.ones(2, 3))[0],
    "atleast_2d": lambda a: ts.atleast_2d(a),
    "atleast_3d": lambda a: ts.atleast_3d([a, ts.ones(2)])[0],
    "meshgrid": lambda a: ts.meshgrid(a, ts.ones(2), indexing="ij")[0],
    "tensor_split": lambda a: ts.cat([part * 1 for part in a.tensor_split(2)]),
}
VIEWS = ["broadcast_tensors", "atleast_2d", "atleast_3d", "meshgrid"]


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_base_and_version(name, requires_grad):
    a = ts.ones(3, requires_grad=requires_grad) * 1
    b = MAKERS[name](a)
    assert b._base is a and b._is_view()
    a.add_(1)
    assert b._version == a._version == 1
    assert b.flatten()[0] == 2


def test_node_names():
    scalar, vector, matrix = (ts.ones(shape, requires_grad=True) for shape in ((), (3,), (2, 3)))
    assert ts.atleast_1d(scalar).grad_fn.name() == "ViewBackward0"
    assert ts.atleast_3d(vector).grad_fn.name() == "UnsqueezeBackward0"
    assert ts.atleast_2d(matrix) is matrix
    assert ts.broadcast_tensors(vector, matrix)[0].grad_fn.name() == "ExpandBackward0"


@pytest.mark.parametrize("name", VIEWS)
def test_write_to_the_base(name):
    x = ts.ones(3, requires_grad=True)
    a = x * 1
    b = MAKERS[name](a)
    a.mul_(3)
    (b * b).sum().backward()
    assert x.grad.tolist() == [18.0 * (b.numel() // 3)] * 3


@pytest.mark.parametrize("name", VIEWS)
def test_write_to_the_view(name):
    x = ts.ones(3, requires_grad=True)
    a = x * 1
    b = MAKERS[name](a)
    if b.numel() > 3:
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single"):
            b.mul_(3)
        return
    b.mul_(3)
    (a * a).sum().backward()
    assert x.grad.tolist() == [18.0] * 3


@pytest.mark.parametrize("name", MAKERS)
def test_forward_mode(name):
    x, tangent = ts.arange(3.0), ts.ones(3)
    with forward_ad.dual_level():
        result = forward_ad.unpack_dual(MAKERS[name](forward_ad.make_dual(x, tangent)))
        assert ts.equal(result.primal, MAKERS[name](x))
        assert ts.equal(result.tangent, ts.ones_like(result.primal))
    primal, derivative = ts.func.jvp(MAKERS[name], (x,), (tangent,))
    assert ts.equal(primal, MAKERS[name](x)) and ts.equal(derivative, ts.ones_like(primal))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (1, 2, 3, 4)])
def test_atleast_with_gradients(n, shape):
    """The composition that autograd records has the result of the kernel."""
    function = getattr(ts, f"atleast_{n}d")
    x = ts.rand(shape)
    with_grad = x.clone().requires_grad_()
    assert ts.equal(function(x), function(with_grad))
    assert function(x).stride() == function(with_grad).stride()
    (result,) = function([with_grad])
    assert ts.equal(function(x), result)
    result.sum().backward()
    assert ts.equal(with_grad.grad, ts.ones(shape))


@pytest.mark.parametrize("shapes", [((3,), (2, 1)), ((), (2, 3), (1,)), ((2, 1, 3), (4, 1), ()), ((0, 1), (1, 3))])
def test_broadcast_with_gradients(shapes):
    """The composition that autograd records has the results of the kernel."""
    tensors = [ts.rand(shape) for shape in shapes]
    with_grad = [x.clone().requires_grad_() for x in tensors]
    for first, second in zip(ts.broadcast_tensors(*tensors), ts.broadcast_tensors(*with_grad), strict=True):
        assert ts.equal(first, second)


def test_error_of_incompatible_shapes():
    message = r"size of tensor a \(3\) must match the size of tensor b \(2\) at non-singleton dimension 0"
    for requires_grad in (False, True):
        with pytest.raises(RuntimeError, match=message):
            ts.broadcast_tensors(ts.ones(3, requires_grad=requires_grad), ts.ones(2))
    with pytest.raises(RuntimeError, match=message):
        ts.func.jvp(lambda x: ts.broadcast_tensors(x, ts.ones(2))[0], (ts.ones(3),), (ts.ones(3),))


def test_views_of_another_dtype_have_no_base():
    """As in PyTorch, `view(dtype)` has no gradient, but shares memory and version counter."""
    x = ts.ones(3, requires_grad=True) * 1
    y = x.view(ts.float32)
    assert not y._is_view() and not y.requires_grad
    x.add_(1)
    assert y._version == 1 and y.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("source", "operator"),
    [
        ("    a, b = ts.chunk(x * 2, 2)\n    return a, b\n", "Split"),
        ("    a, b = ts.chunk(x * 2, 2)\n    return [a, b]\n", "Split"),
        ("    a, b = ts.chunk(x * 2, 2)\n    return a, b, (a * b).sigmoid()\n", "Split"),
        ("    a, b = (x * 2).split_with_sizes([1, 3])\n    return a, b, (a * b).sigmoid()\n", "SplitWithSizes"),
        ("    y = x * 2\n    a, b = ts.chunk(y, 2)\n    return a, y, (a * b).sigmoid()\n", "Split"),
        ("    a, b = ts.chunk(x, 2)\n    return a, (a * b).sigmoid()\n", "Split"),
        ("    return ts.unbind(x * 2)\n", "Unbind"),
    ],
)
def test_results_of_scripts(source: str, operator: str) -> None:
    """Scripts that return several views of a tensor return views that reject in-place operators."""
    function = ts.jit.CompilationUnit(f"def f(x):\n{source}").f
    for _ in range(4):
        x = ts.ones(4, requires_grad=True) * 1
        first = function(x)[0]
        with pytest.raises(RuntimeError, match=f"^Output 0 of {operator} is a view and is being modified inplace"):
            first.mul_(3)


def test_one_view_of_a_script() -> None:
    """If only one of several views leaves a differentiable graph, in-place operators on it are allowed."""
    function = ts.jit.CompilationUnit("def f(x):\n    a, b = ts.chunk(x * 2, 2)\n    return a, b.sigmoid() * b\n").f
    for _ in range(4):
        x = ts.ones(4, requires_grad=True)
        first, _ = function(x * 1)
        first.mul_(3)
        first.sum().backward()
        assert x.grad.tolist() == [6, 6, 0, 0]
