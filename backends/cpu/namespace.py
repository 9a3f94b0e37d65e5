"""`xp` on the CPU: NumPy, and what there is beyond it for NumPy's arrays.

In: a name of NumPy's; out: NumPy's function.  Of what every namespace has (`backends.namespace`):

    xp.special("erf")       our own ufunc where there is one, else SciPy's
    xp.own("silu")          our own ufunc
    xp.exp(x)               NumPy's, with our own loops where we have some
    xp.ranking              equal elements in PyTorch's order
    xp.transforms           scipy.fft, or numpy.fft where SciPy is not installed
    xp.products(a, b)       stacks of matrices by our kernels of products, on several threads
    xp.einsum(text, a, b)   by products of stacks
    xp.weighted_sums(...)   by a kernel, likewise, and xp.weighted_picks(...)
    xp.in_pieces(f, x, y)   f(x, y), by pieces where time is limited, with a look at the clock between them
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ts import dtypes
from ts._core.thread import deadline

from ..namespace import Over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_PIECE: Final = 1 << 14  # elements that are computed at once where time is limited
_LOOK: Final = 100_000.0  # nanoseconds after which the clock is read


class NumpyTransforms:
    """numpy.fft with what it lacks of scipy.fft: the Hermitian transforms of several dimensions."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np.fft, name)

    @staticmethod
    def hfftn(x: Array, s: Any, axes: Any, norm: str | None) -> Array:
        """The transform of a signal that is Hermitian."""
        return np.fft.irfftn(x.conj(), s, axes, _OPPOSITE[norm])

    @staticmethod
    def ihfftn(x: Array, s: Any, axes: Any, norm: str | None) -> Array:
        """The inverse of `hfftn`."""
        made: Array = np.fft.rfftn(x, s, axes, _OPPOSITE[norm]).conj()
        return made


_OPPOSITE: dict[str | None, Any] = {
    None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho",
}  # fmt: skip


class CpuNamespace(Over):
    """NumPy."""

    @functools.cached_property
    def ranking(self) -> Any:  # type: ignore[override]  # who asks for it imports it
        """Where elements come in order."""
        return import_module(".ranking", __package__)

    def scipy(self, part: str) -> Any:
        """`scipy.<part>`, whose threads `ts` then counts among its own."""
        from .kernels import one_thread

        found = super().scipy(part)
        one_thread.found_scipy()
        return found

    def lapack(self, name: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
        """LAPACK's routine for a dtype."""
        found: Callable[..., Any] = self.scipy("linalg").lapack.get_lapack_funcs(name, dtype=dtype)
        return found

    def special(self, name: str) -> Callable[..., Array]:
        """Our own function of this name, or that of `scipy.special`."""
        from .kernels.special import UFUNCS  # here: few programs use one

        return UFUNCS[name] if name in UFUNCS else super().special(name)

    def own(self, name: str) -> Callable[..., Array] | None:
        """An activation: the kernels in C have the same loops."""
        return self.special(name)

    def __getattr__(self, name: str) -> Any:
        """NumPy's, but for functions some of whose loops are our own: the kernels in C have the same."""
        found = super().__getattr__(name)
        if isinstance(found, np.ufunc):
            from .kernels.special import OURS_OF_NUMPY  # here: few programs use one

            if name in OURS_OF_NUMPY:
                found = self._of_the_dtype(name)
                setattr(self, name, found)
        return found

    def _of_the_dtype(self, name: str) -> Callable[..., Array]:
        """One of ours, with a result of bfloat16 for bfloat16: NumPy knows no loops for that but its own."""
        ours = self.special(name)

        def call(x: Any, **options: Any) -> Array:
            result = ours(x, **options)
            short = isinstance(x, np.ndarray) and dtypes.is_bfloat16(x.dtype) and "out" not in options
            return result.astype(x.dtype) if short else result

        return call

    @functools.cached_property
    def transforms(self) -> Any:
        """scipy.fft, or what gives the same without SciPy; looked for once."""
        try:
            return self.scipy("fft")
        except ImportError:
            return NumpyTransforms()

    def products(self, a: Array, b: Array) -> Array:
        """a @ b of one dtype; matrices and stacks of them by the kernels of products, on several threads."""
        from .kernels.addmm import multiply  # here: it imports tensors, which find their backend here

        found: Array | None = multiply(a, b)
        made: Array = np.matmul(a, b) if found is None else found
        return made

    def einsum(self, text: str, *operands: Array, **unused: Any) -> Array:
        """By products of stacks, where NumPy goes through the elements."""
        from .einsum import einsum  # here: few programs use it

        return einsum(self.products, text, operands)

    def weighted_sums(self, x: Array, axis: int, places: Array, weights: Array) -> Array:
        """The sums lie as x does, with the dimensions in the same order."""
        from .kernels.resample import weighted_sums

        return self._summed(weighted_sums, x, axis, places, weights)

    def weighted_bytes(self, x: Array, axis: int, places: Array, weights: Array, digits: int) -> Array:
        """By a kernel, likewise."""
        from .kernels.resample import weighted_bytes

        return self._summed(weighted_bytes, x, axis, places, weights, digits)

    def _summed(self, kernel: Callable[..., None], x: Array, axis: int, places: Array, *more: Any) -> Array:
        order = sorted(range(x.ndim), key=lambda d: -abs(x.strides[d]))
        inside = _whole(x.transpose(order))
        along = order.index(axis)
        shape = list(inside.shape)
        shape[along] = len(places)
        out = np.empty(shape, x.dtype)
        weights, *rest = more
        kernel(inside, out, along, _whole(places), _whole(weights), *rest)
        return out.transpose(np.argsort(order))

    def weighted_picks(self, x: Array, places: Array, weights: Array) -> Array:
        """By a kernel but for 16-bit floats, which are rounded after each step."""
        if x.dtype.char not in "fd":
            rounded: Array = super().weighted_picks(x, places, weights)
            return rounded
        from .kernels.resample import weighted_picks

        out = np.empty((*x.shape[:2], places.shape[1]), x.dtype)
        weighted_picks(_whole(x), out, _whole(places), _whole(weights))
        return out

    def in_pieces(self, function: Callable[..., Array], *operands: Array) -> Array:
        """`function` of arrays, element by element: by pieces where time is limited."""
        if not deadline.is_set() or max((np.size(x) for x in operands), default=0) <= _PIECE:
            return function(*operands)
        arrays = np.broadcast_arrays(*operands)
        # In the order in which the elements of one that has them all lie, as the result's will.
        whole = next((x for x in operands if np.shape(x) == arrays[0].shape), arrays[0])
        axes = sorted(range(whole.ndim), key=lambda d: -abs(whole.strides[d]))
        flat = [x.transpose(axes).reshape(-1) for x in arrays]
        found = []
        for start in range(0, flat[0].size, _PIECE):
            deadline.spend(_LOOK)
            found.append(function(*(x[start : start + _PIECE] for x in flat)))
        shape = [whole.shape[d] for d in axes]
        return np.concatenate(found).reshape(shape).transpose(np.argsort(axes))


def _whole(x: Array) -> Array:
    """The array, or a copy that is contiguous and aligned."""
    return np.require(x, requirements=["C", "A"])


namespace = CpuNamespace(np)
