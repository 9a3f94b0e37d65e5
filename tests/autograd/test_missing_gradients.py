"""Under `vmap`, operators with several results are differentiated if some results have no gradient."""

from collections.abc import Callable
from typing import Any

import pytest

import ts
from ts import Tensor, func

# PyTorch 2.13 returns these gradients.
CASES = [
    (lambda y: (y.chunk(2)[0] ** 2).sum(), [[2.0, 4.0, 0.0, 0.0], [10.0, 12.0, 0.0, 0.0]]),
    (lambda y: (y.split([1, 3])[1] ** 2).sum(), [[0.0, 4.0, 6.0, 8.0], [0.0, 12.0, 14.0, 16.0]]),
    (lambda y: (y.tensor_split(3)[1] ** 2).sum(), [[0.0, 0.0, 6.0, 0.0], [0.0, 0.0, 14.0, 0.0]]),
    (lambda y: y.unbind()[1] ** 2, [[0.0, 4.0, 0.0, 0.0], [0.0, 12.0, 0.0, 0.0]]),
    (lambda y: (ts.unsafe_split(y, 2)[1] ** 2).sum(), [[0.0, 0.0, 6.0, 8.0], [0.0, 0.0, 14.0, 16.0]]),
    (lambda y: ts.var_mean(y)[1] ** 2, [[1.25] * 4, [3.25] * 4]),
    (lambda y: ts.aminmax(y)[0] ** 2, [[2.0, 0.0, 0.0, 0.0], [10.0, 0.0, 0.0, 0.0]]),
]


@pytest.mark.parametrize(("function", "gradients"), CASES)
def test_vmap_of_grad(function: Callable[[Tensor], Tensor], gradients: list[list[float]]) -> None:
    y = ts.arange(1.0, 9).reshape(2, 4)
    assert ts.vmap(func.grad(function))(y).tolist() == gradients

    def pull_back(x: Tensor, cotangent: Tensor) -> Any:
        return func.vjp(function, x)[1](cotangent)[0]

    assert ts.vmap(pull_back)(y, ts.tensor([1.0, 2.0])).tolist() == [
        gradients[0],
        [2 * g for g in gradients[1]],
    ]


def test_hessian() -> None:
    y = ts.arange(1.0, 5)
    expected = ts.diag(ts.tensor([2.0, 2.0, 0.0, 0.0]))
    assert ts.equal(func.hessian(lambda y: (y.chunk(2)[0] ** 2).sum())(y), expected)
    assert ts.equal(func.hessian(lambda y: (y.split([2, 2])[0] ** 2).sum())(y), expected)


def test_qr_with_one_used_result() -> None:
    a = ts.tensor([[[2.0, 1.0], [0.0, 3.0]], [[4.0, 0.0], [0.0, 5.0]]])
    gradients = ts.vmap(func.grad(lambda a: ts.linalg.qr(a)[1].abs().sum()))(a)
    ts.testing.assert_close(
        gradients, ts.tensor([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]), atol=1e-5, rtol=0
    )


class _Parts(ts.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2, x * 3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, first: Tensor, second: Tensor) -> Tensor:
        return first * 2 + second * 3


def test_function_receives_zeros_on_the_device_of_its_results() -> None:
    y = ts.arange(1.0, 5).reshape(2, 2)
    assert ts.vmap(func.grad(lambda y: _Parts.apply(y)[1].sum()))(y).tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_device_of_results_inside_vmap() -> None:
    devices = []

    def function(y: Tensor) -> Tensor:
        result = y * y
        devices.append(result.grad_fn._input_metadata[0].device)
        return result.sum()

    ts.vmap(func.grad(function))(ts.ones(2, 3))
    assert devices == [ts.device("cpu")]
