"""Array namespace `xp` of the CPU: NumPy with corrections and additions.

Attributes that are not in the following table are NumPy's functions:

    xp.special("erf")       ufunc of this package, else SciPy's
    xp.find_kernel("silu")  ufunc of this package
    xp.exp(x)               NumPy's ufunc, with loops of this package if they exist
    xp.ranking              sorting with PyTorch's order of equal elements
    xp.transforms           scipy.fft, or numpy.fft without SciPy
    xp.products(a, b)       batched matrix products, multi-threaded
    xp.einsum(text, a, b)   einsum by batched matrix products
    xp.weighted_sums(...)   weighted sums by C kernels, also xp.weighted_bytes and xp.weighted_picks
    xp.in_pieces(f, x, y)   f(x, y), in chunks with time checks under `ts.limits(seconds=...)`
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ts import dtypes
from ts._core.thread import deadline

from ..array_namespace import WrappedNamespace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_CHUNK_ELEMENTS: Final = 1 << 14  # elements of a chunk. The time limit is checked before each chunk.
_MIN_SELECT_ELEMENTS: Final = 256  # smallest number of elements for which `where` calls the C kernel
# time in ns that each chunk adds to the time counted for the limit of `ts.limits`
_CLOCK_INTERVAL_NS: Final = 100_000.0


class NumpyTransforms:
    """Module numpy.fft, plus the functions `hfftn` and `ihfftn` of scipy.fft."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np.fft, name)

    @staticmethod
    def hfftn(x: Array, s: Any, axes: Any, norm: str | None) -> Array:
        """Return the n-dimensional FFT of a signal with Hermitian symmetry."""
        return np.fft.irfftn(x.conj(), s, axes, _OPPOSITE[norm])

    @staticmethod
    def ihfftn(x: Array, s: Any, axes: Any, norm: str | None) -> Array:
        """Return the inverse of the transform `hfftn`."""
        result: Array = np.fft.rfftn(x, s, axes, _OPPOSITE[norm]).conj()
        return result


_OPPOSITE: dict[str | None, Any] = {
    None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho",
}  # fmt: skip


class CpuNamespace(WrappedNamespace):
    """Array namespace of the CPU: NumPy's functions, with the corrections and additions of this module."""

    @functools.cached_property
    def ranking(self) -> Any:  # type: ignore[override]  # imported at first use
        """Module of sorting functions with PyTorch's order of equal elements."""
        return import_module(".argsort", __package__)

    def scipy(self, module_name: str) -> Any:
        """Return `scipy.<module_name>`, and limit the threads of a BLAS library that its import loads."""
        from .kernels import blas_thread_limit

        result = super().scipy(module_name)
        blas_thread_limit.limit_scipy_threads()
        return result

    def lapack(self, name: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
        """Return the LAPACK routine `name` for a dtype."""
        result: Callable[..., Any] = self.scipy("linalg").lapack.get_lapack_funcs(name, dtype=dtype)
        return result

    def where(self, condition: Any, *choices: Any) -> Any:
        """Return NumPy's `where`, computed without branches for contiguous operands of one dtype."""
        if len(choices) == 2 and np.size(condition) >= _MIN_SELECT_ELEMENTS:
            from .kernels.masked import select_contiguous  # imported here to avoid an import cycle

            selected = select_contiguous(condition, *choices)
            if selected is not None:
                return selected
        return np.where(condition, *choices)

    def special(self, name: str) -> Callable[..., Array]:
        """Return this package's ufunc `name` if it exists, else the function of `scipy.special`."""
        from .kernels.special import UFUNCS  # imported here, because few programs use it

        return UFUNCS[name] if name in UFUNCS else super().special(name)

    def find_kernel(self, name: str) -> Callable[..., Array] | None:
        """Return the ufunc of the activation `name`.

        It calls the same loops as the C kernel of the activation.
        """
        return self.special(name)

    def __getattr__(self, name: str) -> Any:
        """Return NumPy's function `name`, or the ufunc with the C kernels' loops that replaces it."""
        result = super().__getattr__(name)
        if isinstance(result, np.ufunc):
            from .kernels.special import OURS_OF_NUMPY  # imported here, because few programs use it

            if name in OURS_OF_NUMPY:
                result = self._wrap_for_bfloat16(name)
                setattr(self, name, result)
        return result

    def _wrap_for_bfloat16(self, name: str) -> Callable[..., Array]:
        """Return a function that calls the ufunc `name` of this package.

        The function converts the result for a bfloat16 array to bfloat16.
        """
        ours = self.special(name)

        def call(x: Any, **options: Any) -> Array:
            result = ours(x, **options)
            short = isinstance(x, np.ndarray) and dtypes.is_bfloat16(x.dtype) and "out" not in options
            return result.astype(x.dtype) if short else result

        return call

    @functools.cached_property
    def transforms(self) -> Any:
        """Module `scipy.fft`, or `NumpyTransforms` if SciPy is not installed."""
        try:
            return self.scipy("fft")
        except ImportError:
            return NumpyTransforms()

    def products(self, a: Array, b: Array) -> Array:
        """Return a @ b for matrices, or batches of matrices, of one dtype, computed by several threads."""
        from .kernels.gemm_ops import multiply  # imported here to avoid an import cycle

        product: Array | None = multiply(a, b)
        result: Array = np.matmul(a, b) if product is None else product
        return result

    def einsum(self, equation: str, *operands: Array, **unused: Any) -> Array:
        """Return the einsum of arrays, computed by batched matrix products."""
        from .einsum import einsum  # imported here, because few programs use it

        return einsum(self.products, equation, operands)

    def weighted_sums(self, x: Array, axis: int, indices: Array, weights: Array) -> Array:
        """Return weighted sums along an axis. The result has the dimension order of `x` in memory."""
        from .kernels.resample import weighted_sums

        return self._run_weighted_sums(weighted_sums, x, axis, indices, weights)

    def weighted_bytes(self, x: Array, axis: int, indices: Array, weights: Array, digits: int) -> Array:
        """Return weighted sums of uint8 elements along an axis, computed in fixed point."""
        from .kernels.resample import weighted_bytes

        return self._run_weighted_sums(weighted_bytes, x, axis, indices, weights, digits)

    def _run_weighted_sums(
        self, kernel: Callable[..., None], x: Array, axis: int, indices: Array, *more: Any
    ) -> Array:
        order = sorted(range(x.ndim), key=lambda d: -abs(x.strides[d]))
        inside = _contiguous_aligned(x.transpose(order))
        along = order.index(axis)
        shape = list(inside.shape)
        shape[along] = len(indices)
        out = np.empty(shape, x.dtype)
        weights, *rest = more
        kernel(inside, out, along, _contiguous_aligned(indices), _contiguous_aligned(weights), *rest)
        return out.transpose(np.argsort(order))

    def weighted_picks(self, x: Array, indices: Array, weights: Array) -> Array:
        """Return weighted sums of the elements of `x` at `indices`.

        For 16-bit floats, the method of the base class runs, because it rounds after each step.
        """
        if x.dtype.char not in "fd":
            rounded: Array = super().weighted_picks(x, indices, weights)
            return rounded
        from .kernels.resample import weighted_picks

        out = np.empty((*x.shape[:2], indices.shape[1]), x.dtype)
        weighted_picks(
            _contiguous_aligned(x), out, _contiguous_aligned(indices), _contiguous_aligned(weights)
        )
        return out

    def in_pieces(self, function: Callable[..., Array], *operands: Array) -> Array:
        """Apply an elementwise function.

        Under a time limit, apply it in chunks, with a check before each chunk.
        """
        if not deadline.is_set() or max((np.size(x) for x in operands), default=0) <= _CHUNK_ELEMENTS:
            return function(*operands)
        arrays = np.broadcast_arrays(*operands)
        # The elements of the result are ordered in memory like those of the first operand that has the
        # broadcast shape.
        reference = next((x for x in operands if np.shape(x) == arrays[0].shape), arrays[0])
        axes = sorted(range(reference.ndim), key=lambda d: -abs(reference.strides[d]))
        flat = [x.transpose(axes).reshape(-1) for x in arrays]
        result = []
        for start in range(0, flat[0].size, _CHUNK_ELEMENTS):
            deadline.charge(_CLOCK_INTERVAL_NS)
            result.append(function(*(x[start : start + _CHUNK_ELEMENTS] for x in flat)))
        shape = [reference.shape[d] for d in axes]
        return np.concatenate(result).reshape(shape).transpose(np.argsort(axes))


def _contiguous_aligned(x: Array) -> Array:
    """Return `x` if it is contiguous and aligned, else a contiguous and aligned copy."""
    return np.require(x, requirements=["C", "A"])


namespace = CpuNamespace(np)
