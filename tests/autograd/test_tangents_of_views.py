"""Writes through views of dual tensors change the tangent of the base only at the elements of the view."""

from collections.abc import Callable

import pytest

import ts
from ts import Tensor
from ts.autograd import forward_ad


def _dual() -> Tensor:
    return forward_ad.make_dual(ts.tensor([1.0, 2.0, 3.0, 4.0]), ts.tensor([10.0, 20.0, 30.0, 40.0]))


def _tangent(x: Tensor) -> Tensor:
    tangent = forward_ad.unpack_dual(x).tangent
    assert tangent is not None
    return tangent


def _slice(d: Tensor) -> None:
    d[0:2].mul_(3)


def _item(d: Tensor) -> None:
    d[0] = 5.0


def _copy_between_views(d: Tensor) -> None:
    d.view(2, 2)[1] = d[0:2] * 1


def _transposed(d: Tensor) -> None:
    d.view(2, 2).t().mul_(ts.tensor([[1.0, 2.0], [3.0, 4.0]]))


def _split(d: Tensor) -> None:
    d.split(2)[0].mul_(2)


def _unbind(d: Tensor) -> None:
    d.unbind(0)[1].mul_(2)


def _no_grad(d: Tensor) -> None:
    with ts.no_grad():
        d[1:].mul_(2)


def _strided(d: Tensor) -> None:
    d.as_strided((2,), (2,), 1).mul_(2)


def _dual_factor(d: Tensor) -> None:
    d[2:].mul_(forward_ad.make_dual(ts.ones(2), ts.ones(2)))


def _random(d: Tensor) -> None:
    d[1:3].normal_()


@pytest.mark.parametrize(
    ("write", "tangent"),
    [
        (_slice, [30, 60, 30, 40]),
        (_item, [0, 20, 30, 40]),
        (_copy_between_views, [10, 20, 10, 20]),
        (_transposed, [10, 60, 60, 160]),
        (_split, [20, 40, 30, 40]),
        (_unbind, [10, 40, 30, 40]),
        (_no_grad, [10, 40, 60, 80]),
        (_strided, [10, 40, 30, 80]),
        (_dual_factor, [10, 20, 33, 44]),
        (_random, [10, 0, 0, 40]),
    ],
)
def test_write_through_view(write: Callable[[Tensor], None], tangent: list[float]) -> None:
    with forward_ad.dual_level():
        d = _dual()
        before = d[:]
        write(d)
        assert _tangent(d).tolist() == tangent
        assert _tangent(before).tolist() == tangent
        after_second_write = [0.0 if x == 0 else 2 * x for x in tangent]
        d.mul_(2)
        assert _tangent(before).tolist() == after_second_write


def test_write_through_complex_views() -> None:
    with forward_ad.dual_level():
        z = forward_ad.make_dual(ts.tensor([1 + 1j, 2.0]), ts.tensor([1 + 1j, 2.0]))
        ts.view_as_real(z)[0, 0].mul_(5)
        assert _tangent(z).tolist() == [5 + 1j, 2]


def test_memory_of_tangents() -> None:
    """A tangent is stored without a copy, and a view's tangent is a view of the base's tangent."""
    with forward_ad.dual_level():
        tangent = ts.tensor([10.0, 20.0, 30.0, 40.0])
        d = forward_ad.make_dual(ts.ones(4), tangent)
        assert _tangent(d) is tangent
        assert _tangent(d[1:])._base is tangent
        d[1:].mul_(2)
        assert tangent.tolist() == [10, 40, 60, 80]


def test_layout_of_copied_tangents() -> None:
    """If strides or storage sizes differ, the tangent is copied to the layout of the primal."""
    with forward_ad.dual_level():
        tangent = ts.ones(2, 2)
        d = forward_ad.make_dual(ts.ones(2, 2).t(), tangent)
        assert _tangent(d) is not tangent
        assert _tangent(d).stride() == (1, 2)
        every_other = forward_ad.make_dual(ts.arange(8.0)[1::2], ts.tensor([10.0, 20.0, 30.0, 40.0]))
        copied = _tangent(every_other)
        assert (copied.stride(), copied.storage_offset(), copied.tolist()) == ((2,), 1, [10, 20, 30, 40])
        expanded = forward_ad.make_dual(ts.ones(2), ts.ones(()).expand(2))
        expanded[1:].mul_(2)
        assert _tangent(expanded).tolist() == [1, 2]


def test_primals_are_not_bases() -> None:
    """The primal of a dual tensor shares its memory, but not its tangent and its shape."""
    with forward_ad.dual_level():
        primal = ts.ones(4)
        d = forward_ad.make_dual(primal[1:], ts.ones(3))
        d.mul_(2)
        assert primal.tolist() == [1, 2, 2, 2]
        assert forward_ad.unpack_dual(primal).tangent is None
        d.unsqueeze_(0)
        assert forward_ad.unpack_dual(d).primal.shape == (1, 3)
        assert primal.shape == (4,)
        unpacked = forward_ad.unpack_dual(d).primal
        assert unpacked._base is primal
        assert forward_ad.unpack_dual(unpacked).tangent is None


def test_constant_views() -> None:
    """Results of `detach` and `data` get no tangent from writes to their base, and give it none."""
    with forward_ad.dual_level():
        for y in (_dual(), _dual() * 1):
            detached, data = y[1:].detach(), y.data
            y.mul_(2)
            for x in (detached, detached[1:], data):
                assert forward_ad.unpack_dual(x).tangent is None
            data.mul_(5)
            assert _tangent(y).tolist() == [20, 40, 60, 80]
        y.detach_()
        assert forward_ad.unpack_dual(y).tangent is None
    value, tangent = ts.func.jvp(lambda x: x.data * x, (ts.tensor(3.0),), (ts.tensor(1.0),))
    assert (value.item(), tangent.item()) == (9, 3)


def test_disabled_tangents() -> None:
    """In inference mode and with forward mode disabled, only views have tangents, and only later."""
    for disabled in (ts.inference_mode, lambda: forward_ad._set_fwd_grad_enabled(False)):
        with forward_ad.dual_level():
            d = _dual()
            with disabled():
                view, double = d[1:], d * 2
                d.mul_(2)
                assert forward_ad.unpack_dual(d).tangent is None
                assert repr(d) == "tensor([2., 4., 6., 8.])"
            assert _tangent(d).tolist() == [10, 20, 30, 40]
            assert _tangent(view).tolist() == [20, 30, 40]
            assert forward_ad.unpack_dual(double).tangent is None
    with forward_ad.dual_level():
        with ts.inference_mode():
            d = _dual()
        assert forward_ad.unpack_dual(d).tangent is None
    x = ts.tensor(3.0)
    with ts.inference_mode():
        assert ts.func.jvp(lambda x: x * x, (x,), (x,))[1].item() == 18

    def infer(x: Tensor) -> Tensor:
        with ts.inference_mode():
            return x * x

    assert ts.func.jvp(infer, (x,), (x,))[1].item() == 0


def test_rejected_writes() -> None:
    with forward_ad.dual_level():
        d = _dual()
        with pytest.raises(RuntimeError, match=r"^cannot resize variables that has a forward grad$"):
            d[1:].resize_(2)
        message = (
            r"^Trying to use forward AD with mul_out that does not support it because it is an out= function$"
        )
        with pytest.raises(NotImplementedError, match=message):
            ts.mul(d, 2, out=ts.empty(4))
        plain = ts.empty(4)
        ts.mul(forward_ad.unpack_dual(d).primal, 2, out=plain)
        assert plain.tolist() == [2, 4, 6, 8]
        with pytest.raises(RuntimeError, match=r"^Invalid level given to _make_dual$"):
            forward_ad.make_dual(ts.ones(2), ts.ones(2), level=1)
        with pytest.raises(RuntimeError, match=r"^Setting a forward grad that itself has a forward gradient"):
            forward_ad.make_dual(ts.ones(4), d)
        with pytest.raises(RuntimeError, match=r"^Making a dual Tensor based on a Tensor that already has"):
            forward_ad.make_dual(d, ts.ones(4))


def test_text_of_dual_tensors() -> None:
    with forward_ad.dual_level():
        d = forward_ad.make_dual(ts.ones(2), ts.tensor([1.0, 2.0]))
        assert repr(d) == "tensor([1., 1.], tangent=tensor([1., 2.]))"
    assert repr(d) == "tensor([1., 1.])"


def _write_detached(x: Tensor) -> Tensor:
    x.detach().mul_(3)
    return x


def _write_row(x: Tensor) -> Tensor:
    x[0].mul_(3)
    return x


def _write_row_and_sum(x: Tensor) -> Tensor:
    x[0].mul_(3)
    return x.add_(x.sum())


def _write_into(x: Tensor) -> Tensor:
    y = ts.ones(2, 3)
    rows = y.view(3, 2)
    y.fill_(x.sum())
    rows[0].mul_(3)
    return y


def _read_view_made_before(x: Tensor) -> Tensor:
    y = ts.ones(2, 3)
    view = y.view(6)
    y.fill_(x.sum())
    assert view[::2].requires_grad
    return view


@pytest.mark.parametrize(
    ("function", "gradient", "tangent"),
    [
        (_write_detached, [1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]),
        (_write_row, [3, 3, 3, 1, 1, 1], [3, 3, 3, 1, 1, 1]),
        (_write_row_and_sum, [21, 21, 21, 7, 7, 7], [15, 15, 15, 13, 13, 13]),
        (_write_into, [10, 10, 10, 10, 10, 10], [18, 18, 6, 6, 6, 6]),
        (_read_view_made_before, [6, 6, 6, 6, 6, 6], [6, 6, 6, 6, 6, 6]),
    ],
)
def test_gradients_of_written_dual_tensors(
    function: Callable[[Tensor], Tensor], gradient: list[float], tangent: list[float]
) -> None:
    """Autograd records each write to a dual tensor once."""
    a = (ts.arange(1.0, 7.0) / 7).requires_grad_()
    with forward_ad.dual_level():
        result = function(forward_ad.make_dual((a * 1).view(2, 3), ts.ones(2, 3)))
        result.sum().backward()
        assert a.grad is not None and a.grad.tolist() == gradient
        assert _tangent(result).reshape(-1).tolist() == tangent


def _through_transposed(y: Tensor, v: Tensor) -> None:
    y.T.add_(1)
    v.fill_(1.5)


def _through_base(y: Tensor, v: Tensor) -> None:
    y.sub_(y.sum())
    v.fill_(1.5)


def _in_turns(y: Tensor, v: Tensor) -> None:
    y.mul_(2)
    v.mul_(2)
    y.mul_(2)


def _through_two_views(y: Tensor, v: Tensor) -> None:
    w = y[:, 0]
    y.T.mul_(2)
    w.mul_(3)
    v.mul_(5)
    w.fill_(0)


def _with_new_tangent(y: Tensor, v: Tensor) -> None:
    y.zero_()
    v.add_(forward_ad.make_dual(ts.ones(3), ts.ones(3)))


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (_through_transposed, [[0.0, 0.0, 0.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        (_through_base, [[0.0, 0.0, 0.0], [-41.0, -40.0, -39.0], [-38.0, -37.0, -36.0]]),
        (_in_turns, [[8.0, 16.0, 24.0], [16.0, 20.0, 24.0], [28.0, 32.0, 36.0]]),
        (_through_two_views, [[0.0, 20.0, 30.0], [0.0, 10.0, 12.0], [0.0, 16.0, 18.0]]),
        (_with_new_tangent, [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ],
)
def test_writes_after_other_writes_change_the_given_tangent(
    write: Callable[[Tensor, Tensor], None], expected: list[list[float]]
) -> None:
    """PyTorch 2.13 computes these tangents."""
    with forward_ad.dual_level():
        tangent = ts.arange(1.0, 10).reshape(3, 3)
        y = forward_ad.make_dual(ts.ones(3, 3), tangent)
        view = y[0]
        write(y, view)
        assert _tangent(view).tolist() == expected[0]
        assert _tangent(y).tolist() == expected
        assert tangent.tolist() == expected
