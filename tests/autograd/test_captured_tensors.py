"""Functions under `grad`, `vjp` and `jvp` must not write in place to tensors that they capture."""

from collections.abc import Callable
from typing import Any

import pytest

import ts
from ts import Tensor
from ts.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

Write = Callable[[Tensor, Tensor], Any]
X = [1.0, 2.0, 3.0]
MESSAGE = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
    "({}) that would mutate a captured Tensor. This is not supported; please rewrite the function being "
    "transformed to explicitly accept the mutated Tensor(s) as inputs."
)


def _transforms(function: Callable[[Tensor], Tensor]) -> list[Callable[[], Any]]:
    x = ts.tensor(X)
    return [
        lambda: grad(function)(x),
        lambda: vjp(function, x),
        lambda: jvp(function, (x,), (x,)),
        lambda: jacrev(function)(x),
        lambda: jacfwd(function)(x),
        lambda: hessian(function)(x),
        lambda: vmap(grad(function))(x),
        lambda: grad(lambda x: vmap(lambda y: function(x) * y)(x).sum())(x),
    ]


@pytest.mark.parametrize(
    ("write", "operator"),
    [
        (lambda x, c: c.mul_(2), "aten::mul_.Tensor"),
        (lambda x, c: c.add_(x), "aten::add_.Tensor"),
        (lambda x, c: c.__setitem__(0, 5.0), "aten::copy_"),
        (lambda x, c: c.__setitem__((..., slice(None)), 5.0), "aten::fill_.Tensor"),
        (lambda x, c: c.__setitem__((slice(None), None), 5), "aten::fill_.Tensor"),
        (lambda x, c: c.__setitem__((), 5), "aten::fill_.Tensor"),
        (lambda x, c: c.clamp_(0, 1), "aten::clamp_"),
        (lambda x, c: c.ge_(0), "aten::ge_.Scalar"),
        (lambda x, c: c.index_put_((ts.tensor([0]),), x.sum()), "aten::index_put_"),
        (lambda x, c: c.uniform_(), "aten::uniform_"),
        (lambda x, c: c.unsqueeze_(0), "aten::unsqueeze_"),
        (lambda x, c: c.resize_(2), "aten::resize_"),
        (lambda x, c: c.detach_(), "aten::detach_"),
        (lambda x, c: ts.nn.functional.relu(c, inplace=True), "aten::relu_"),
        # views and results that share the memory of the captured tensor
        (lambda x, c: c[0:1].zero_(), "aten::zero_"),
        (lambda x, c: c.view(3, 1).add_(1), "aten::add_.Tensor"),
        (lambda x, c: c.split(1)[0].mul_(2), "aten::mul_.Tensor"),
        (lambda x, c: c.as_strided((2,), (1,)).mul_(2), "aten::mul_.Tensor"),
        (lambda x, c: c.detach().mul_(2), "aten::mul_.Tensor"),
        (lambda x, c: c.data.mul_(2), "aten::mul_.Tensor"),
        (lambda x, c: c.contiguous().mul_(2), "aten::mul_.Tensor"),
        (lambda x, c: c.to(ts.float32).mul_(2), "aten::mul_.Tensor"),
    ],
)
def test_captured(write: Write, operator: str) -> None:
    captured = ts.ones(3)

    def function(x: Tensor) -> Tensor:
        write(x, captured)
        return (x * x).sum()

    for transform in _transforms(function):
        with pytest.raises(RuntimeError) as error:
            transform()
        assert str(error.value) == MESSAGE.format(operator)
    assert captured.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "write",
    [
        lambda x, c: c.clone().mul_(2),
        lambda x, c: (c + 0)[0].add_(1),
        lambda x, c: ts.zeros_like(c).add_(x),
        lambda x, c: ts.zeros(3).copy_(c),
        lambda x, c: ts.ones(3).unbind()[0].mul_(2),
        lambda x, c: (x * 1).mul_(2),
        lambda x, c: (x > 0).logical_not_(),
        lambda x, c: (x > 0).float().mul_(2),
        lambda x, c: x.detach().clone().mul_(2),
        lambda x, c: ts.nn.functional.batch_norm(x.expand(2, 3), ts.zeros(3), ts.ones(3), training=True),
    ],
)
def test_created_in_the_function(write: Write) -> None:
    captured = ts.ones(3)

    def function(x: Tensor) -> Tensor:
        write(x, captured)
        return (x * x).sum()

    x = ts.tensor(X)
    assert grad(function)(x).tolist() == [2, 4, 6]
    assert jvp(function, (x,), (x,))[1].item() == 28
    assert hessian(function)(x).tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
    assert captured.tolist() == [1, 1, 1]


def test_operators_that_write_other_arguments() -> None:
    """PyTorch checks only operators that return their first argument and write no other."""
    captured = ts.ones(3)

    def function(x: Tensor) -> Tensor:
        ts.add(captured, 1, out=captured)
        ts._foreach_add_([captured], 1)
        captured.view(ts.int32).zero_()
        ts._foreach_add_([captured], 1)
        ts.nn.functional.batch_norm(x.expand(2, 3), captured, ts.ones(3), training=True)
        return (x * x).sum()

    assert grad(function)(ts.tensor(X)).tolist() == [2, 4, 6]
    ts.testing.assert_close(captured, ts.tensor([1.0, 1.1, 1.2]))


def test_arguments() -> None:
    """A function can write to its arguments: with `jvp` to all, with `grad` to those without gradient."""
    x, y = ts.tensor(X), ts.ones(3)

    def function(x: Tensor, y: Tensor, *, z: dict[str, Tensor]) -> Tensor:
        return (x * y.mul_(2) * z["z"].add_(1)).sum()

    z = {"z": ts.ones(3)}
    assert grad(function)(x, y, z=z).tolist() == [4, 4, 4]
    assert y.tolist() == z["z"].tolist() == [2, 2, 2]
    assert jvp(lambda x, y: y.mul_(x), (x, y), (x, ts.ones(3)))[1].tolist() == [3, 6, 9]
    with pytest.raises(
        RuntimeError, match=r"a leaf Variable that requires grad is being used in an in-place"
    ):
        grad(lambda x: x.mul_(2).sum())(x)

    def outer(x: Tensor) -> Tensor:
        return grad(lambda x, y: (y.mul_(x)).sum())(x, y)

    with pytest.raises(RuntimeError, match="captured"):
        grad(lambda x: (y.mul_(2) * x).sum())(x)
    assert outer(ts.ones(3)).tolist() == [2, 4, 6]


def test_nested_functions() -> None:
    """Tensors of an outer function are captured by the inner one, but not the other way around."""
    x = ts.tensor(X)
    escaped: list[Tensor] = []

    def writes_outer(x: Tensor) -> Tensor:
        y = x * 1
        return grad(lambda z: (z * y.mul_(2)).sum())(x).sum()

    def writes_inner(x: Tensor) -> Tensor:
        def inner(z: Tensor) -> Tensor:
            y = x * 1
            y.mul_(2)
            escaped.append(ts.zeros(3))
            return (y * z).sum()

        result = grad(inner)(x).sum()
        escaped[-1].add_(1)
        return result

    with pytest.raises(RuntimeError, match="captured"):
        grad(writes_outer)(x)
    assert grad(writes_inner)(x).tolist() == [2, 2, 2]
    assert escaped[-1].tolist() == [1, 1, 1]
    escaped[-1].mul_(2)
    assert escaped[-1].tolist() == [2, 2, 2]


def test_vmap() -> None:
    """`vmap` alone permits writes to captured tensors."""
    x, captured = ts.tensor(X), ts.ones(3)
    assert vmap(lambda x: captured.mul_(2) * x)(x).tolist() == [[2, 2, 2], [4, 4, 4], [6, 6, 6]]
    with pytest.raises(RuntimeError, match="captured"):
        vmap(lambda row: grad(lambda y: row.mul_(y))(ts.tensor(2.0)))(captured)
    with pytest.raises(RuntimeError, match="captured"):
        grad(lambda y: vmap(lambda row, y: row.mul_(y))(captured, y).sum())(x)
    assert grad(lambda y: vmap(lambda row, y: row.mul_(y))(y * 1, y).sum())(x).tolist() == [2, 4, 6]


def test_scripts() -> None:
    @ts.jit.script
    def write(x: Tensor, y: Tensor) -> Tensor:
        y.mul_(2)
        return (x * y).sum()

    captured = ts.ones(3)
    with pytest.raises(RuntimeError, match="captured"):
        grad(lambda x: write(x, captured))(ts.tensor(X))
    assert grad(lambda x: write(x, ts.ones(3)))(ts.tensor(X)).tolist() == [2, 2, 2]


def test_after_an_error() -> None:
    captured = ts.ones(3)
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: 1 / 0)(ts.tensor(X))
    assert captured.mul_(2).tolist() == [2, 2, 2]


def test_buffers_of_modules() -> None:
    norm = ts.nn.BatchNorm1d(3)
    with pytest.raises(RuntimeError) as error:
        grad(lambda x: norm(x).sum())(ts.ones(4, 3))
    assert str(error.value) == MESSAGE.format("aten::add_.Tensor")


def test_assigned_numbers() -> None:
    """Numbers are assigned to tensors of the function, and are constants."""

    def function(x: Tensor) -> Tensor:
        z = ts.ones(3, 3)
        z[..., 0] = 3.0
        z[0, 1] = 4
        z[2:, None] = 5
        return (z * x).sum()

    assert grad(function)(ts.tensor(X)).tolist() == [11, 10, 7]
