"""Functions whose signatures schemas cannot express: variadic tensors, and flags that select results.

A function calls an operator with other arguments. For example, `ts.meshgrid(a, b, indexing="xy")` calls
`aten::meshgrid.indexing([a, b], "xy")`. `torch_functions()` returns the functions of the package `ts` that
are not operators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ts._core.dispatch.overloads import overloads as operator
from ts._core.dispatch.overrides import Overridable
from ts._core.late_binding import resolve
from ts._core.thread.warnings import warn

Function = Callable[..., Any]


def _listed(tensors: tuple[Any, ...]) -> list[Any]:
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


# ------------------------------------------------------------------------------ functions of the package `ts`


def broadcast_tensors(*tensors: Any) -> Any:
    """Return the tensors expanded to their common shape."""
    return tuple(operator("broadcast_tensors")(_listed(tensors)))


def broadcast_shapes(*shapes: Any) -> Any:
    """Return the common shape of `shapes`."""
    from ts._core.tensor.tensor import Size
    from ts.ops import common

    return Size(common.broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes)))


def block_diag(*tensors: Any) -> Any:
    """Return a block diagonal matrix with the tensors along its diagonal."""
    if not tensors:
        from ts._core.tensor import factories

        return factories.tensor([[]])
    return operator("block_diag")(_listed(tensors))


def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """Return the product of matrices in the cheapest order (matrix chain multiplication)."""
    operands = _listed(matrices)
    if len(operands) == 1:
        return operands[0]
    warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple "
        "parameters."
    )
    return operator("chain_matmul")(operands) if out is None else operator("chain_matmul")(operands, out=out)


def cartesian_prod(*tensors: Any) -> Any:
    """Return the Cartesian product of 1-dim tensors, one combination per row."""
    return operator("cartesian_prod")(_listed(tensors))


def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """Return coordinate tensors of the grid spanned by 1-dim tensors."""
    if indexing is None:
        warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    return tuple(operator("meshgrid")(_listed(tensors), indexing=indexing or "ij"))


def einsum(*args: Any) -> Any:
    """Compute the Einstein sum of an equation, or of operands with subscript lists.

    einsum("ij,jk", a, b) is einsum(a, [0, 1], b, [1, 2]). A list after the last operand contains the
    subscripts of the result.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    if isinstance(args[0], str):
        return operator("einsum")(args[0], _listed(args[1:]))
    equation = ",".join(map(_subscripts, args[1::2]))
    if len(args) % 2:
        equation += "->" + _subscripts(args[-1])
    return operator("einsum")(equation, list(args[: len(args) // 2 * 2 : 2]))


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _subscripts(numbers: Any) -> str:
    """Convert a subscript list to einsum letters."""
    letters = []
    for n in numbers:
        if n is not ... and not 0 <= n < len(_LETTERS):
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        letters.append("..." if n is ... else _LETTERS[n])
    return "".join(letters)


def _at_least(name: str) -> Function:
    """Return a function that calls operator `name` for a tensor, or for a list of several tensors."""

    def function(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
            return operator(name)(tensors[0])
        return tuple(operator(name)(_listed(tensors)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The tensor with {name[8]} dimensions at least; of several tensors, a tuple of them."
    return function


def nonzero(input: Any, *, as_tuple: bool = False, out: Any = None) -> Any:
    """Return the indices of nonzero elements."""
    if as_tuple:
        return tuple(operator("nonzero_numpy")(input))
    return operator("nonzero")(input) if out is None else operator("nonzero")(input, out=out)


_TORCH: tuple[Function, ...] = (
    *map(_at_least, ("atleast_1d", "atleast_2d", "atleast_3d")),
    broadcast_tensors, broadcast_shapes, block_diag, cartesian_prod, chain_matmul, meshgrid, einsum, nonzero,
)  # fmt: skip


_BY_NAME: dict[str, Function] = {f.__name__: Overridable(f, is_python=f is not nonzero) for f in _TORCH}
globals().update(_BY_NAME)  # pickle looks up the functions as attributes of this module


def torch_functions() -> dict[str, Function]:
    """Return the functions of this module that the package `ts` exports, by name."""
    return _BY_NAME


def _over(name: str) -> Function:
    """Return a tensor method that calls the package function `name`."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(resolve("functional"), name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


_METHODS = ("lu", "norm", "stft", "unique", "unique_consecutive")


@cache
def tensor_methods() -> dict[str, Function]:
    """Return the tensor methods whose signatures no schema can express."""
    methods = {name: Overridable(_over(name)) for name in _METHODS}
    return {"nonzero": Overridable(nonzero, is_python=False), **methods}
