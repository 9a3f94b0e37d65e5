"""Functions whose Python signature is no schema's: reductions by name, variadic tensors, flags for results.

In: what PyTorch's Python functions take; out: calls of the operators.  `torch_functions()` belong to the
package itself; every other function is its operator.

    ts.broadcast_tensors(a, b)                           ->  aten::broadcast_tensors([a, b])
    ts.meshgrid(a, b, indexing="xy")                     ->  aten::meshgrid.indexing([a, b], "xy")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts._core.tensor import Tensor

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


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """The product summed over `dims`: a number of dimensions, or two lists of them."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        first, second = list(dims[0]), list(dims[1])
    return operator("tensordot")(a, b, first, second)


def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None
) -> Any:
    """A vector norm (a number `p` or "fro") or the nuclear norm of a matrix."""
    dims = [dim] if isinstance(dim, int) else None if dim is None else list(dim)
    if p == "nuc":
        return operator("linalg_matrix_norm")(
            input, "nuc", [-2, -1] if dims is None else dims, keepdim, dtype=dtype
        )
    return operator("linalg_vector_norm")(input, 2 if p in ("fro", None) else p, dims, keepdim, dtype=dtype)


def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """Distances between the rows of two matrices."""
    return operator("cdist")(x1, x2, float(p), None)


def nonzero(input: Any, *, as_tuple: bool = False, out: Any = None) -> Any:
    """The places of the elements that are not zero."""
    return tuple(operator("nonzero_numpy")(input)) if as_tuple else operator("nonzero")(input)


def _chosen(parts: tuple[Any, Any, Any], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = parts
    found = (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))
    return found if len(found) > 1 else values


def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, and on request where each went and how often it occurs."""
    if dim is None:
        found = operator("_unique2")(input, sorted, return_inverse, return_counts)
    else:
        found = operator("unique_dim")(input, dim, sorted, return_inverse, return_counts)
    return _chosen(found, return_inverse, return_counts)


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements without repetitions of the one before."""
    found = operator("unique_consecutive")(input, return_inverse, return_counts, dim)
    return _chosen(found, return_inverse, return_counts)


_TORCH = (
    broadcast_tensors, broadcast_shapes, block_diag, cartesian_prod, meshgrid, einsum, tensordot, norm, cdist,
    nonzero, unique, unique_consecutive,
)  # fmt: skip


def torch_functions() -> dict[str, Function]:
    """Functions of the package itself."""
    return {f.__name__: f for f in _TORCH}


def tensor_methods() -> dict[str, Function]:
    """Those of them that are methods, too."""
    return {f.__name__: f for f in (nonzero, unique, unique_consecutive)}
