"""Custom operators with lists of tensors as arguments or results have gradients."""

import typing

import pytest

import ts
from ts import Tensor
from ts.library import custom_op


def test_a_list_of_results():
    @custom_op("lists::multiples", mutates_args=())
    def multiples(x: Tensor) -> list[Tensor]:
        return [x * 2, x * 3]

    seen = []

    def backward(ctx, gradients):
        seen.append((type(gradients), ctx.needs_input_grad))
        return gradients[0] * 2 + gradients[1] * 3

    multiples.register_autograd(backward)
    x = ts.ones(2, requires_grad=True)
    result = multiples(x)
    assert type(result) is list and all(y.requires_grad for y in result)
    (result[0] + 2 * result[1]).sum().backward()
    assert x.grad.tolist() == [8, 8]
    multiples(x)[0].sum().backward()
    assert x.grad.tolist() == [10, 10]
    assert seen == [(list, (True,))] * 2


def test_a_list_of_arguments():
    @custom_op("lists::total", mutates_args=())
    def total(xs: typing.Sequence[Tensor], k: float) -> Tensor:
        return sum(x * k for x in xs)

    needed = []

    def setup(ctx, inputs, output):
        ctx.count, ctx.k = len(inputs[0]), inputs[1]

    def backward(ctx, gradient):
        needed.append(ctx.needs_input_grad)
        return [gradient * ctx.k] * ctx.count, None

    total.register_autograd(backward, setup_context=setup)
    x, y, z = (ts.ones(2, requires_grad=k != 1) for k in range(3))
    y_result = total([x, y, z], 3.0)
    y_result.sum().backward()
    assert x.grad.tolist() == z.grad.tolist() == [3, 3] and y.grad is None
    assert needed == [([True, False, True], False)]
    assert y_result.grad_fn.name() == "GeneratedBackwardFor_lists_total_defaultBackward"

    total.register_autograd(lambda ctx, gradient: (gradient, None))
    with pytest.raises(RuntimeError, match=r"^Expected the return from backward to be of the same structure as the inputs"):
        total([x, y], 3.0).sum().backward()


def test_results_of_pytorch_operators_are_lists():
    x = ts.arange(4.0)
    assert type(ts.ops.aten.split.Tensor(x, 2)) is list and type(ts.ops.aten.unbind(x)) is list
    assert type(ts.split(x, 2)) is tuple and type(x.unbind()) is tuple


def test_arrays_inside_of_an_operator():
    @custom_op("lists::doubled", mutates_args=())
    def doubled(x: Tensor) -> Tensor:
        return ts.from_numpy(x.numpy() * 2)

    doubled.register_autograd(lambda ctx, gradient: gradient * 2)
    x = ts.ones(2, requires_grad=True)
    doubled(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
