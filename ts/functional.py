"""Functions in the scripted subset of Python that call operators: `torch.functional`.

Each line shows a call and the operator that the function calls:

    ts.norm(x, "nuc")                            aten::linalg_matrix_norm
    ts.unique(x, return_counts=True)             aten::_unique2, two of its three results
    ts.tensordot(a, b, dims=2)                   aten::tensordot with lists of dimensions

If a flag determines the result type of a function, `boolean_dispatch` selects one of two implementations. All
other names of this module, such as `ts.functional.einsum`, are operators.
"""

# ruff: noqa: F811  overloads are declared under one name

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ts
from ts._core.dispatch.overrides import Overridable
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.frontend.compile_directives import boolean_dispatch

if TYPE_CHECKING:
    from typing import overload
else:
    from ts.frontend.overloads import declare_overload as overload

__all__ = ["cdist", "lu", "norm", "stft", "tensordot", "unique", "unique_consecutive", "unravel_index"]
WRITTEN = frozenset(__all__)  # names of Python functions, while all other names of this module are operators


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'ts.functional' has no attribute '{name}'")
    return getattr(ts, name)


def _copy_to_out(out: Tensor | None, result: Tensor) -> Tensor:
    """Write `result` to `out` if it is given. Return the written tensor or `result`."""
    if out is None:
        return result
    return out.resize_(result.size()).copy_(result)


# ---------------------------------------------------------------------------------------- norms, distances


@overload
def norm(
    input: Tensor,
    p: str = "fro",
    dim: list[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: int | None = None,
) -> Tensor: ...


@overload
def norm(
    input: Tensor,
    p: int | float | complex | None,
    dim: list[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: int | None = None,
) -> Tensor: ...


@overload
def norm(
    input: Tensor,
    p: int | float | complex | None,
    dim: int | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: int | None = None,
) -> Tensor: ...


@overload
def norm(
    input: Tensor,
    p: str = "fro",
    dim: int | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: int | None = None,
) -> Tensor: ...


def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False, out: Any = None, dtype: Any = None
) -> Any:
    """Return a norm of `input`: the nuclear norm of matrices if `p` is "nuc", otherwise a vector norm.

    A number `p` is the order of the vector norm. The order is 2 if `p` is "fro" or None.
    """
    dims = [dim] if isinstance(dim, int) else dim
    if isinstance(p, str):
        if p == "nuc":
            if dims is None:
                result = ts.linalg.matrix_norm(input, "nuc", [-2, -1], keepdim, dtype=dtype)
            else:
                result = ts.linalg.matrix_norm(input, "nuc", dims, keepdim, dtype=dtype)
        elif p == "fro":
            result = ts.linalg.vector_norm(input, 2, dims, keepdim, dtype=dtype)
        else:
            raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    else:
        if p is None:
            result = ts.linalg.vector_norm(input, 2, dims, keepdim, dtype=dtype)
        else:
            result = ts.linalg.vector_norm(input, p, dims, keepdim, dtype=dtype)
    return _copy_to_out(out, result)


def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """Return the pairwise distances between the rows of two (batches of) matrices."""
    if compute_mode == "use_mm_for_euclid_dist_if_necessary":
        return ts._VF.cdist(x1, x2, p, None)
    elif compute_mode == "use_mm_for_euclid_dist":
        return ts._VF.cdist(x1, x2, p, 1)
    elif compute_mode == "donot_use_mm_for_euclid_dist":
        return ts._VF.cdist(x1, x2, p, 2)
    else:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")


def _last_and_first(a: Tensor, b: Tensor, count: int) -> tuple[list[int], list[int]]:
    """Return the indices of the last `count` dimensions of `a` and of the first `count` of `b`."""
    if count < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={count}")
    if count > min(a.dim(), b.dim()):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={count}")
    return [i - count for i in range(count)], [i for i in range(count)]  # noqa: C416


@overload
def tensordot(a: Tensor, b: Tensor, dims: int = 2, out: Tensor | None = None) -> Tensor: ...


@overload
def tensordot(
    a: Tensor, b: Tensor, dims: tuple[list[int], list[int]], out: Tensor | None = None
) -> Tensor: ...


@overload
def tensordot(a: Tensor, b: Tensor, dims: list[list[int]], out: Tensor | None = None) -> Tensor: ...


@overload
def tensordot(a: Tensor, b: Tensor, dims: Tensor, out: Tensor | None = None) -> Tensor: ...


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """Sum the products of elements over the last `dims` dimensions of `a` and the first `dims` of `b`.

    `dims` may also be a pair of lists, which contain the dimensions of `a` and the dimensions of `b`.
    """
    if isinstance(dims, int):
        first, second = _last_and_first(a, b, dims)
    elif isinstance(dims, Tensor):
        if dims.numel() > 1:
            first = ts.jit.annotate(list[int], dims[0].tolist())
            second = ts.jit.annotate(list[int], dims[1].tolist())
        else:
            first, second = _last_and_first(a, b, int(dims))
    else:
        first = dims[0]
        second = dims[1]
    return _copy_to_out(out, ts._VF.tensordot(a, b, first, second))


# ---------------------------------------------------------------------------------------- distinct values


def _unique_tensors(
    input: Tensor, sorted: bool, return_inverse: bool, return_counts: bool, dim: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    if dim is not None:
        return ts._VF.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return ts._VF._unique2(input, sorted, return_inverse, return_counts)


def _return_inverse_and_counts(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    return _unique_tensors(input, sorted, return_inverse, return_counts, dim)


def _return_inverse(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor]:
    values, inverse, _ = _unique_tensors(input, sorted, return_inverse, return_counts, dim)
    return values, inverse


def _return_counts(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, Tensor]:
    values, _, counts = _unique_tensors(input, sorted, return_inverse, return_counts, dim)
    return values, counts


def _return_output(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor:
    values, _, _ = _unique_tensors(input, sorted, return_inverse, return_counts, dim)
    return values


unique = boolean_dispatch(
    "return_counts",
    3,
    False,
    boolean_dispatch(
        "return_inverse", 2, False, _return_inverse_and_counts, _return_counts, __name__, "unique"
    ),
    boolean_dispatch("return_inverse", 2, False, _return_inverse, _return_output, __name__, "unique"),
    __name__,
    "unique",
)
unique.__doc__ = """Return the distinct elements, and optionally the inverse indices and the counts."""


def _consecutive_return_inverse_and_counts(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    return ts._VF.unique_consecutive(input, return_inverse, return_counts, dim)


def _consecutive_return_inverse(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor]:
    values, inverse, _ = ts._VF.unique_consecutive(input, return_inverse, return_counts, dim)
    return values, inverse


def _consecutive_return_counts(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor]:
    values, _, counts = ts._VF.unique_consecutive(input, return_inverse, return_counts, dim)
    return values, counts


def _consecutive_return_output(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor:
    values, _, _ = ts._VF.unique_consecutive(input, return_inverse, return_counts, dim)
    return values


unique_consecutive = boolean_dispatch(
    "return_counts",
    2,
    False,
    boolean_dispatch(
        "return_inverse",
        1,
        False,
        _consecutive_return_inverse_and_counts,
        _consecutive_return_counts,
        __name__,
        "unique_consecutive",
    ),
    boolean_dispatch(
        "return_inverse",
        1,
        False,
        _consecutive_return_inverse,
        _consecutive_return_output,
        __name__,
        "unique_consecutive",
    ),
    __name__,
    "unique_consecutive",
)
unique_consecutive.__doc__ = """Return elements without consecutive repetitions, optionally with counts."""


# ---------------------------------------------------------------------------------------- matrices, spectra


def _lu_with_infos(
    A: Tensor,
    pivot: bool = True,
    get_infos: bool = False,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the LU factors of matrices, the pivots and LAPACK's `info` numbers.

    One tensor contains both factors. A positive `info` number is the index, from 1, of a pivot that is zero.
    """
    factors, pivots, infos = ts._VF._lu_with_info(A, pivot, not get_infos)
    if out is not None:
        return _copy_to_out(out[0], factors), _copy_to_out(out[1], pivots), _copy_to_out(out[2], infos)
    return factors, pivots, infos


def _lu_no_infos(
    A: Tensor, pivot: bool = True, get_infos: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    factors, pivots, _ = ts._VF._lu_with_info(A, pivot, not get_infos)
    if out is not None:
        return _copy_to_out(out[0], factors), _copy_to_out(out[1], pivots)
    return factors, pivots


lu = boolean_dispatch("get_infos", 2, False, _lu_with_infos, _lu_no_infos, __name__, "lu")


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Return the short-time Fourier transform, with frequencies in rows and frames in columns."""
    return ts._VF.stft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        pad_mode,
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Convert flat indices to coordinates in a tensor of `shape`."""
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == ts.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for n in sizes:
        if not isinstance(n, int) and not (current_tracer() is not None and isinstance(n, Tensor)):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    coordinates, step = [], 1
    for n in reversed(sizes):
        coordinates.append(ts.div(indices.long(), step, rounding_mode="floor") % n)
        step *= n
    return tuple(reversed(coordinates))


# With `Overridable`, the class of an argument, or an active mode, can override a function by a method
# `__torch_function__`. Scripts ignore such methods and compile the wrapped function.
for _name in ("cdist", "lu", "norm", "stft", "tensordot", "unique", "unique_consecutive", "unravel_index"):
    globals()[_name] = Overridable(globals()[_name])
