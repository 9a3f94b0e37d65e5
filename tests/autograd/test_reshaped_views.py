"""In-place view operators such as `t_` and `as_strided_`, on views and on bases of views."""

from collections.abc import Callable

import pytest

import ts
from ts import Tensor


def _view_of(a: Tensor) -> tuple[Tensor, Tensor]:
    base = a.view(3, 4) * 1
    return base, base[1:]


def _gradient(loss: Tensor, a: Tensor) -> list[float]:
    return ts.autograd.grad(loss, a)[0].tolist()  # type: ignore[no-any-return]


ALL = [0, 0, 0, 0, 8, 10, 12, 14, 16, 18, 20, 22]  # gradient of the sum of squares of elements 4 to 11


@pytest.mark.parametrize(
    ("reshape", "name", "gradient"),
    [
        (lambda v: v.unsqueeze_(0), "UnsqueezeBackward1", ALL),
        (lambda v: v.t_(), "TBackward1", ALL),
        (lambda v: v.transpose_(0, 1), "TransposeBackward1", ALL),
        (lambda v: v.swapaxes_(0, 1), "TransposeBackward1", ALL),
        (lambda v: v.squeeze_(), "SqueezeBackward3", ALL),
        (lambda v: v.squeeze_(0), "SqueezeBackward4", ALL),
        (lambda v: v.squeeze_((0, 1)), "SqueezeBackward5", ALL),
        (lambda v: v.as_strided_((2,), (3,), 4), "AsStridedBackward1", [0] * 4 + [8, 0, 0, 14] + [0] * 4),
        # Element 1 is outside of the view before `as_strided_`.
        (lambda v: v.as_strided_((2,), (3,), 1), "AsStridedBackward1", [0] * 4 + [8] + [0] * 7),
        (lambda v: v.as_strided_((2, 2), (1, 1), 4), "AsStridedBackward1", [0] * 4 + [8, 20, 12] + [0] * 5),
    ],
)
def test_reshaped_view(reshape: Callable[[Tensor], Tensor], name: str, gradient: list[float]) -> None:
    """The operator changes only the history of the view. The gradient flows to its previous value."""
    a = ts.arange(12.0, requires_grad=True)
    base, view = _view_of(a)
    reshape(view)
    assert view.grad_fn.name() == name
    assert base.grad_fn.name() == "MulBackward0"
    assert _gradient((view * view).sum(), a) == gradient


def test_write_to_reshaped_view() -> None:
    a = ts.arange(12.0, requires_grad=True)
    base, view = _view_of(a)
    view.t_()
    view.mul_(3)
    assert base.tolist() == [[0, 1, 2, 3], [12, 15, 18, 21], [24, 27, 30, 33]]
    assert _gradient((view * view).sum(), a) == [0, 0, 0, 0, 72, 90, 108, 126, 144, 162, 180, 198]


def test_write_to_view_after_as_strided() -> None:
    a = ts.arange(6.0, requires_grad=True)
    y = a * 1
    view = y[1:]
    view.as_strided_((2,), (2,), 1)
    view.mul_(3)
    assert y.tolist() == [0, 3, 2, 9, 4, 5]
    assert _gradient((view * view).sum(), a) == [0, 18, 0, 54, 0, 0]


def test_view_larger_than_its_base() -> None:
    """`as_strided_` can make a base smaller than its views. The views then read only the remaining elements of the base."""
    a = ts.arange(6.0, requires_grad=True)
    y = a * 2
    view = y[0:]
    y.as_strided_((2, 2), (1, 1), 1)
    assert y.grad_fn.name() == "AsStridedBackward1"
    assert _gradient((y * y).sum(), a) == [0, 8, 32, 24, 0, 0]
    y = a * 2
    view = y[0:]
    y.as_strided_((2, 2), (1, 1), 1)
    assert _gradient((view * view).sum(), a) == [0, 8, 16, 24, 0, 0]


def test_as_strided_in_transforms_and_scripts() -> None:
    def f(x: Tensor) -> Tensor:
        return (x * 1).as_strided_((2,), (2,), 1).mul_(3).sum()

    x = ts.arange(6.0)
    assert ts.func.grad(f)(x).tolist() == [0, 3, 0, 3, 0, 0]
    assert [y.item() for y in ts.func.jvp(f, (x,), (x,))] == [12, 12]

    @ts.jit.script
    def g(x: Tensor) -> Tensor:
        y = x * 1
        y.as_strided_([2], [2], 1)
        return y * y

    a = ts.arange(6.0, requires_grad=True)
    for _ in range(3):
        assert _gradient(g(a).sum(), a) == [0, 2, 0, 6, 0, 0]
    with ts.autograd.forward_ad.dual_level():
        d = ts.autograd.forward_ad.make_dual(ts.ones(4), ts.tensor([10.0, 20.0, 30.0, 40.0]))
        d.as_strided_((2,), (1,), 1)
        assert ts.autograd.forward_ad.unpack_dual(d).tangent.tolist() == [20, 30]


def test_leaf_and_name_of_conj_physical() -> None:
    a = ts.ones(6, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        a.as_strided_((2,), (1,))
    assert (a * 1).conj_physical_().grad_fn.name() == "ConjPhysicalBackward1"
