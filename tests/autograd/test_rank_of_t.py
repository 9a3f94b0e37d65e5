"""The errors of `t` and `t_` for tensors with more than 2 dimensions, in all function transforms."""

import re
from collections.abc import Callable

import pytest

import ts
from ts import Tensor, func


@pytest.mark.parametrize("name", ["t", "t_"])
@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(ts.ones(2, 2, 2)),
        lambda f: f(ts.ones(2, 2, 2, requires_grad=True)),
        lambda f: func.grad(f)(ts.ones(2, 2, 2)),
        lambda f: func.jvp(f, (ts.ones(2, 2, 2),), (ts.ones(2, 2, 2),)),
        lambda f: ts.vmap(f)(ts.ones(2, 2, 2, 2)),
        lambda f: f(ts.ones(2, 2, 2, device="meta")),
    ],
)
def test_tensor_of_rank_3(name: str, call: Callable[[Callable[[Tensor], Tensor]], object]) -> None:
    text = f"{name}() expects a tensor with <= 2 dimensions, but self is 3D"
    with pytest.raises(RuntimeError, match=re.escape(text)):
        call(lambda x: getattr(x * 1, name)().sum())


@pytest.mark.parametrize("name", ["t", "t_"])
def test_matrices(name: str) -> None:
    x = ts.arange(6.0).reshape(1, 2, 3)
    transposed = [[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]]
    assert ts.vmap(lambda a: getattr(a * 1, name)())(x).tolist() == transposed
    assert getattr(x[0] * 1, name)().tolist() == transposed[0]
