"""Jacobian matrices by rows (`jacrev`) or columns (`jacfwd`), and Hessian matrices (`hessian`).

>>> jacrev(lambda x: x * x)(ts.tensor([1.0, 2.0]))
tensor([[2., 0.],
        [0., 4.]])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ts
from ts import Tensor
from ts._core.tensor.tensor_metadata import detached
from ts.func.forward_mode import jvp
from ts.func.grad_and_vjp import Argnums, checked_argnums, recorded_vjp, replace_args, select_args
from ts.func.pytree import flatten, unflatten
from ts.func.vmap import vmap

Function = Callable[..., Any]


def units(tensors: list[Tensor]) -> list[Tensor]:
    """Return the columns of an identity matrix, split into one block for each of the tensors.

    The size n of the matrix is the number of elements of all tensors. The block of a tensor `x` has shape (n,
    *x.shape), with one column for each element of `x`.
    """
    total, before, bases = sum(x.numel() for x in tensors), 0, []
    for x in tensors:
        basis = ts.zeros(total, x.numel(), dtype=x.dtype, device=x.device)
        basis.diagonal(-before).fill_(1)
        before += x.numel()
        bases.append(basis.view([total, *x.shape]))
    return bases


def _check_real(name: str, role: str, tensors: list[Any]) -> None:
    for x in tensors:
        if isinstance(x, Tensor) and x.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {role} to be real but received complex tensor at flattened input idx: "
                f"{next(i for i, y in enumerate(tensors) if y is x)}"
            )


def jacrev(
    func: Function,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """Return a function that computes the Jacobian of `func` with respect to `argnums` in reverse mode.

    Each pair of a result and an argument has one Jacobian of shape `result.shape + argument.shape`. The new
    function returns a tree with the structure of the results. Each leaf of this tree is a tree of Jacobians
    with the structure of the arguments.

    chunk_size  number of Jacobian rows computed together (1: sequentially, without `vmap`)
    has_aux     `func` returns (results, aux), and the new function returns (Jacobian, aux)

    Raise ValueError if `chunk_size` is not positive.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def differentiated(*args: Any) -> Any:
        indices = checked_argnums(argnums, len(args))
        _check_real("jacrev", "inputs", flatten(args)[0])
        primals = (select_args(args, indices),)
        _, results, vjp_function, aux = recorded_vjp(
            lambda new: func(*replace_args(args, indices, new)), primals, has_aux
        )
        outputs, shape = flatten(results)
        _check_real("jacrev", "outputs", outputs)
        rows = units([detached(y) for y in outputs])

        def compute_row(*grad_outputs: Tensor) -> list[Tensor]:
            return flatten(vjp_function(unflatten(grad_outputs, shape)))[0]

        if chunk_size == 1:
            each = [compute_row(*row) for row in zip(*(r.unbind(0) for r in rows), strict=True)]
            columns = [ts.stack(list(column)) for column in zip(*each, strict=True)]
        else:
            columns = vmap(compute_row, chunk_size=chunk_size)(*rows)
        inputs, input_shape = flatten(primals[0])
        counts = [y.numel() for y in outputs]
        split_columns = [column.split(counts, 0) for column in columns]
        rows_per_output = [
            unflatten(
                [
                    chunks[k].reshape([*y.shape, *x.shape])
                    for chunks, x in zip(split_columns, inputs, strict=True)
                ],
                input_shape,
            )
            for k, y in enumerate(outputs)
        ]
        jacobian = unflatten(rows_per_output, shape)
        return (jacobian, aux) if has_aux else jacobian

    return differentiated


def jacfwd(
    func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """Return a function that computes Jacobians like `jacrev`, in forward mode.

    Forward mode is faster than reverse mode if the results have more elements than the arguments.

    randomness  the argument `randomness` of `vmap`: how `func` may draw random numbers
    """

    @functools.wraps(func)
    def differentiated(*args: Any) -> Any:
        indices = checked_argnums(argnums, len(args))
        _check_real("jacfwd", "inputs", flatten(args)[0])
        primals = select_args(args, indices)
        inputs, input_shape = flatten(primals)
        for x in inputs:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"jacfwd: Expected inputs to only contain Tensors, got {type(x)}")

        def along(*tangents: Tensor) -> Any:
            jvp_result = jvp(
                lambda new: func(*replace_args(args, indices, new)),
                (primals,), (unflatten(tangents, input_shape),), has_aux=has_aux,
            )  # fmt: skip
            return (jvp_result[1], jvp_result[2]) if has_aux else (jvp_result[1], ())

        columns, aux = vmap(along, randomness=randomness)(*units([detached(x) for x in inputs]))
        column_leaves, shape = flatten(columns)
        _check_real("jacfwd", "outputs", column_leaves)
        counts = [x.numel() for x in inputs]
        jacobians = [
            unflatten(
                [
                    chunk.movedim(0, -1).reshape([*chunk.shape[1:], *x.shape])
                    for chunk, x in zip(column.split(counts, 0), inputs, strict=True)
                ],
                input_shape,
            )
            for column in column_leaves
        ]
        jacobian = unflatten(jacobians, shape)
        if not has_aux:
            return jacobian
        leaves, aux_shape = flatten(aux)
        return jacobian, unflatten([x[0] for x in leaves], aux_shape)

    return differentiated


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """Return a function that computes the Hessian of `func`, in forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)
