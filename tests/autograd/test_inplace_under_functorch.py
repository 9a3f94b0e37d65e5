"""In-place writes inside of function transforms, also through views, have equal derivatives in all modes.

The reference is reverse mode alone, one element after the other.
"""

from collections.abc import Callable

import pytest

import ts
from ts import Tensor
from ts.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

Program = Callable[[Tensor], Tensor]


def _select(x: Tensor) -> Tensor:
    y = x * 2
    y[0] = x[1] * x[2]
    return y**2


def _row(x: Tensor) -> Tensor:
    y = x * 1
    y.select(0, 1).mul_(x[0])
    return y**3


def _diagonal(x: Tensor) -> Tensor:
    y = ts.zeros(3, 3) + x
    y.diagonal().mul_(x)
    return y**2


def _index_put(x: Tensor) -> Tensor:
    y = x.clone()
    y.index_put_((ts.tensor([0, 2]),), x[:2] * x[1:])
    return y**3


def _several_views(x: Tensor) -> Tensor:
    y = x.clone().view(3, 1)
    y[1:].mul_(3)
    transposed = y.t()
    transposed[0, 2].mul_(x[0])
    return y**2


def _view_before_the_write(x: Tensor) -> Tensor:
    y = x * 1
    tail = y[1:]
    y[1] = x[0] * x[2]
    tail[1] = tail[0] * 2
    return ts.cat([tail, y]) ** 2


def _split(x: Tensor) -> Tensor:
    a, b = (x * 1).view(3).split([1, 2])
    y = ts.cat([a, b])
    y[1:3].add_(x[:2] ** 2)
    return y * x


def _in_place(x: Tensor) -> Tensor:
    y = x * 1
    y.mul_(x)
    y.add_(x[0] * x)
    return y


def _turned(x: Tensor) -> Tensor:
    y = ts.stack([x, x * x])
    y.t_()
    y[0].mul_(x[:2])
    y.unsqueeze_(0)
    return y.transpose_(0, 1) ** 2


def _into_zeros_like(x: Tensor) -> Tensor:
    y = ts.zeros_like(x)
    y[0] = x[0] * x[1]
    y[1:].copy_(x[:2] ** 2)
    return y * x


def _comparison(x: Tensor) -> Tensor:
    y = x * x
    y[:2].gt_(1.0)
    return y * x


def _into_zeros(x: Tensor) -> Tensor:
    y = ts.zeros(3)
    tail = y[1:]
    y[1] = x[0] * x[1]
    return y * x + tail.sum()


PROGRAMS = [
    _select, _row, _diagonal, _index_put, _several_views, _view_before_the_write, _split, _in_place, _turned,
    _into_zeros_like, _comparison,
]  # fmt: skip
X = [[0.5, 1.25, 2.0], [1.5, 0.75, -1.0]]


def _inputs() -> Tensor:
    return ts.tensor(X, dtype=ts.float64)


def _close(found: Tensor, wanted: Tensor) -> None:
    ts.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("program", PROGRAMS)
def test_batched_writes_equal_elementwise_writes(program: Program) -> None:
    x = _inputs()
    _close(vmap(program)(x), ts.stack([program(row) for row in x]))
    _close(vmap(jacrev(program))(x), ts.stack([jacrev(program)(row) for row in x]))

    def total(row: Tensor) -> Tensor:
        return program(row).sum()

    wanted = ts.stack([grad(total)(row) for row in x])
    _close(vmap(grad(total))(x), wanted)
    _close(grad(lambda x: vmap(total)(x).sum())(x), wanted)
    one = ts.ones((), dtype=ts.float64)
    _close(vmap(lambda row: vjp(total, row)[1](one)[0])(x), wanted)
    _close(vmap(vmap(grad(total)))(x.unsqueeze(0))[0], wanted)
    assert x.tolist() == X  # the input is unchanged


@pytest.mark.parametrize("program", [*PROGRAMS, _into_zeros])
def test_forward_mode_is_reverse_mode(program: Program) -> None:
    x = _inputs()[0]
    wanted = jacrev(program)(x)
    _close(jacfwd(program)(x), wanted)
    for k in range(3):
        along = ts.zeros(3, dtype=ts.float64)
        along[k] = 1
        _close(jvp(program, (x,), (along,))[1], wanted[..., k])
        assert along.sum() == 1
    assert x.tolist() == X[0]


@pytest.mark.parametrize("program", [*PROGRAMS, _into_zeros])
@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_second_derivatives(program: Program, outer: Callable[..., Program], inner: Callable[..., Program]) -> None:
    x = _inputs()[0]
    if outer is inner is jacrev:
        _close(hessian(program)(x), jacrev(jacrev(program))(x))
        return
    _close(outer(inner(program))(x), jacrev(jacrev(program))(x))


@pytest.mark.parametrize("program", PROGRAMS)
def test_hessians_of_a_batch(program: Program) -> None:
    x = _inputs()
    _close(vmap(hessian(program))(x), ts.stack([jacrev(jacrev(program))(row) for row in x]))


def test_a_batch_of_gradients_keeps_histories() -> None:
    x = _inputs().requires_grad_()
    found = vmap(grad(lambda row: (row**3).sum()))(x)
    assert found.requires_grad
    found.sum().backward()
    _close(x.grad, 6 * _inputs())
    scale = ts.ones(2, 3, dtype=ts.float64, requires_grad=True)
    inner = vmap(grad(lambda x, c: (c * x**2).sum()), in_dims=(0, None))
    found = vmap(lambda c: inner(_inputs(), c))(scale)
    found.sum().backward()
    _close(scale.grad, (2 * _inputs()).sum(0).expand(2, 3))


@pytest.mark.parametrize("index", [(None, [1, 0, 3]), (None, [[0, 2], [1, 1]]), ([0, 2], None, [1, 3]), ([2, 0], [1, 1])])
@pytest.mark.parametrize("accumulate", [False, True])
def test_batched_index_put(index: tuple[list[int] | None, ...], accumulate: bool) -> None:
    ts.manual_seed(0)
    x = ts.randn(2, 3, 4, 5)
    indices = [None if i is None else ts.tensor(i) for i in index]
    shape = x[0][tuple(slice(None) if i is None else i for i in indices)].shape
    for values in (ts.randn(2, *shape), ts.randn(2, shape[-1]), ts.randn(2)):
        found = vmap(lambda x, v: ts.index_put(x, indices, v, accumulate))(x, values)
        _close(found, ts.stack([ts.index_put(a, indices, v, accumulate) for a, v in zip(x, values, strict=True)]))
        found = vmap(lambda v: ts.index_put(x[0], indices, v, accumulate))(values)
        _close(found, ts.stack([ts.index_put(x[0], indices, v, accumulate) for v in values]))
        found = vmap(lambda x: ts.index_put(x, indices, values[0], accumulate))(x)
        _close(found, ts.stack([ts.index_put(a, indices, values[0], accumulate) for a in x]))


def test_batches_as_strided() -> None:
    ts.manual_seed(0)
    x, part = ts.randn(3, 4, 5), ts.randn(3, 2, 2)

    def put(a: Tensor, b: Tensor) -> Tensor:
        return ts.as_strided_scatter(a, b, (2, 2), (1, 5))

    for a, b, dims in ((x, part, (0, 0)), (x[0], part, (None, 0)), (x, part[0], (0, None))):
        rows = [put(a if a.dim() == 2 else a[k], b if b.dim() == 2 else b[k]) for k in range(3)]
        _close(vmap(put, in_dims=dims)(a, b), ts.stack(rows))
    transposed = x[:, 1:].transpose(1, 2)
    _close(vmap(lambda a: put(a, part[0]))(transposed), ts.stack([put(a.clone(), part[0]) for a in transposed]))


def test_operators_with_several_results_in_a_batch() -> None:
    x = ts.tensor([[1.0, 3.0, 2.0], [5.0, 4.0, 6.0]])
    found = vmap(lambda row: ts.max(row, 0))(x)
    assert found.values.tolist() == [3, 6] and found.indices.tolist() == [1, 2]
