"""Writes to results of operators that return a view, a copy or the argument itself, in forward mode."""

from collections.abc import Callable

import pytest

import ts
from ts import Tensor, func
from ts.autograd import forward_ad


def _base() -> Tensor:
    return ts.arange(9.0).reshape(3, 3)


COPIES: list[Callable[[Tensor], Tensor]] = [
    lambda x: x.reshape(-1),
    lambda x: x.flatten(),
    lambda x: x.ravel(),
    lambda x: x.reshape_as(ts.ones(9)),
    lambda x: x.contiguous().view(-1),
    lambda x: x.view_as(x).reshape(9, 1),
]


@pytest.mark.parametrize("copied", COPIES)
def test_write_to_copy_of_transposed_tensor(copied: Callable[[Tensor], Tensor]) -> None:
    with forward_ad.dual_level():
        base = _base()
        x = forward_ad.make_dual(base.T, ts.ones(3, 3))
        y = copied(x).mul_(2)
        assert base.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]
        assert forward_ad.unpack_dual(x).tangent.tolist() == [[1.0] * 3] * 3
        assert y.flatten().tolist() == [0.0, 6.0, 12.0, 2.0, 8.0, 14.0, 4.0, 10.0, 16.0]
        assert forward_ad.unpack_dual(y).tangent.flatten().tolist() == [2.0] * 9


@pytest.mark.parametrize("copied", COPIES)
def test_write_to_copy_inside_jvp(copied: Callable[[Tensor], Tensor]) -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = copied(x).mul_(2)
        return x * 1, y.flatten()

    base = _base()
    (_, y), (x_tangent, y_tangent) = func.jvp(function, (base.T,), (ts.ones(3, 3),))
    assert base.tolist() == _base().tolist()
    assert x_tangent.tolist() == [[1.0] * 3] * 3
    assert y.tolist() == [0.0, 6.0, 12.0, 2.0, 8.0, 14.0, 4.0, 10.0, 16.0]
    assert y_tangent.tolist() == [2.0] * 9


def test_write_to_reshaped_view_changes_argument() -> None:
    with forward_ad.dual_level():
        x = forward_ad.make_dual(_base(), ts.ones(3, 3))
        y = x.reshape(-1)
        assert y._base is x._base
        y[:2].mul_(3)
        assert forward_ad.unpack_dual(x).tangent.tolist() == [[3.0, 3.0, 1.0], [1.0] * 3, [1.0] * 3]


@pytest.mark.parametrize(
    "same",
    [
        lambda x: x.type_as(ts.ones(1)),
        lambda x: x.conj(),
        lambda x: x.resolve_conj(),
        lambda x: x.real,
        lambda x: x.contiguous(),
        lambda x: x.to(ts.float32),
    ],
)
def test_operators_that_return_their_argument(same: Callable[[Tensor], Tensor]) -> None:
    with forward_ad.dual_level():
        x = forward_ad.make_dual(_base(), ts.ones(3, 3))
        assert same(x) is x
    _, tangent = func.jvp(lambda x: (same(x).mul_(2), x * 1)[1], (_base(),), (ts.ones(3, 3),))
    assert tangent.tolist() == [[2.0] * 3] * 3


@pytest.mark.parametrize(
    ("change", "primal", "tangent"),
    [
        (lambda a: a.as_strided_((2, 2), (1, 2)), [[0.0, 2.0], [1.0, 3.0]], [[1.0, 3.0], [2.0, 4.0]]),
        (lambda a: a.t_(), [[0.0, 2.0], [1.0, 3.0]], [[1.0, 3.0], [2.0, 4.0]]),
        (lambda a: a.transpose_(0, 1), [[0.0, 2.0], [1.0, 3.0]], [[1.0, 3.0], [2.0, 4.0]]),
        (lambda a: a.unsqueeze_(0), [[[0.0, 1.0], [2.0, 3.0]]], [[[1.0, 2.0], [3.0, 4.0]]]),
    ],
)
def test_change_of_shape_inside_jvp(
    change: Callable[[Tensor], Tensor], primal: list[object], tangent: list[object]
) -> None:
    x, v = ts.arange(4.0).reshape(2, 2), ts.arange(1.0, 5).reshape(2, 2)
    result, result_tangent = func.jvp(lambda a: change(a) * 1, (x,), (v,))
    assert (result.tolist(), result_tangent.tolist()) == (primal, tangent)
    assert (x.shape, x.stride()) == ((2, 2), (2, 1))
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_write_to_argument_of_jvp_changes_the_tensor_of_the_caller() -> None:
    x = ts.ones(2)
    version = x._version
    func.jvp(lambda a: a.mul_(2), (x,), (ts.ones(2),))
    assert x.tolist() == [2.0, 2.0]
    assert x._version == version + 1
