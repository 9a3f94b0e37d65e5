"""Compositions, which autograd runs in place of kernels, reject the arguments that the kernels reject."""

import pytest

import ts

REJECTED = {
    "hsplit": (lambda x: x.hsplit(2), "hsplit attempted to split along dimension 1, but the size of the dimension 3 is not divisible"),
    "vsplit": (lambda x: x[0].vsplit(1), "vsplit requires a tensor with at least 2 dimension, but got a tensor with 1 dimensions"),
    "dsplit": (lambda x: x.dsplit([1]), "dsplit requires a tensor with at least 3 dimension, but got a tensor with 2 dimensions"),
    "matrix_power": (lambda x: ts.linalg.matrix_power(x, 1), "A must be batches of square matrices, but they are 2 by 3"),
    "cartesian_prod": (lambda x: ts.cartesian_prod(x), r"Expect a 1D vector, but got shape \[2, 3\]"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_compositions_reject_what_kernels_reject(name):
    call, message = REJECTED[name]
    for x in (ts.ones(2, 3), ts.ones(2, 3, requires_grad=True)):
        with pytest.raises(RuntimeError, match=message):
            call(x)
    with pytest.raises(RuntimeError, match=message):
        ts.func.jvp(call, (ts.ones(2, 3),), (ts.ones(2, 3),))
