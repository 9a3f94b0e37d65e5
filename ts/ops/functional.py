"""Functions whose Python signature is no schema's: reductions by name, variadic tensors, flags for results.

In: what PyTorch's Python functions take; out: calls of the operators.  `torch_functions()` belong to the
package itself; every other function is its operator.

    ts.broadcast_tensors(a, b)                           ->  aten::broadcast_tensors([a, b])
    ts.meshgrid(a, b, indexing="xy")                     ->  aten::meshgrid.indexing([a, b], "xy")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def operator(name: str) -> Any:
    """All overloads of `aten::name`."""
    from ts._core.overload import overloads

    return overloads(name)


def _listed(tensors: tuple[Any, ...]) -> list[Any]:
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


# ---------------------------------------------------------------------------------------- the package's own


def broadcast_tensors(*tensors: Any) -> Any:
    """The tensors expanded to their common shape."""
    return tuple(operator("broadcast_tensors")(_listed(tensors)))


def broadcast_shapes(*shapes: Any) -> Any:
    """The common shape of `shapes`."""
    from ts._core.tensor import Size
    from ts.ops import rules

    return Size(rules.broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes)))


def block_diag(*tensors: Any) -> Any:
    """A matrix with the tensors along its diagonal."""
    return operator("block_diag")(_listed(tensors))


def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of the tensors' elements, one a row."""
    return operator("cartesian_prod")(_listed(tensors))


def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Coordinate tensors of the grid that the tensors span."""
    return tuple(operator("meshgrid")(_listed(tensors), indexing=indexing))


def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products that `equation` describes."""
    return operator("einsum")(equation, _listed(operands))


def nonzero(input: Any, *, as_tuple: bool = False, out: Any = None) -> Any:
    """The places of the elements that are not zero."""
    return tuple(operator("nonzero_numpy")(input)) if as_tuple else operator("nonzero")(input)


_TORCH = (broadcast_tensors, broadcast_shapes, block_diag, cartesian_prod, meshgrid, einsum, nonzero)


def torch_functions() -> dict[str, Function]:
    """Functions of the package itself."""
    return {f.__name__: f for f in _TORCH}


def _over(name: str) -> Function:
    """The method that calls the function of the package of its name."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        from ts import functional

        return getattr(functional, name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


_METHODS = ("lu", "norm", "stft", "unique", "unique_consecutive")


def tensor_methods() -> dict[str, Function]:
    """Methods whose signature is no schema's."""
    return {"nonzero": nonzero} | {name: _over(name) for name in _METHODS}
