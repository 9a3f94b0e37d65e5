"""`xp`, the array namespace that kernels are given: NumPy's names, and a few that differ between devices.

In: a backend's module of NumPy's names; out: a namespace with these as well, so that no kernel asks whose
arrays it has:

    xp.shapes_only            whether arrays have no elements to look at (meta)
    xp.scipy("linalg")        the device's twin of scipy.linalg
    xp.special("erf")         a function of scipy.special, or one of our own
    xp.own("silu")            a function that the device has in one piece, or None: a formula serves
    xp.transforms             the functions of scipy.fft, from the library there is
    xp.products(a, b)         stacks of matrices, multiplied by what the device does fastest
    xp.weighted_sums(x, d, places, weights)   sums of places along a dimension: what resampling does
    xp.weighted_bytes(...)                    the same of bytes, rounded
    xp.weighted_picks(x, places, weights)     sums of elements of planes: what sampling at a grid does
    xp.in_pieces(f, x, y)     f(x, y), element by element; where time is limited, with looks at the clock
    xp.to_host(x)             the elements as a NumPy array
    xp.ranking                what `ts.ops.argsort` does, in the device's own way where it has one
    xp.lapack("sytrf", dtype)     a routine for arrays in host memory
    xp.random_stream          a function that gives the device's own stream of random numbers, or None;
                              `streams` is the device whose streams serve

`WrappedNamespace` makes one from a plain module, for backends of other packages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

Array = Any  # numpy.ndarray, cupy.ndarray, MetaArray ...


def _scipy(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        part = module.rpartition(".")[2]
        raise ImportError(f"this operator needs SciPy's `{part}`: pip install scipy") from error


class Namespace:
    """What kernels find in every `xp` beyond NumPy's names; here for arrays that NumPy takes itself."""

    shapes_only: ClassVar[bool] = False
    random_stream: ClassVar[Callable[[], Any] | None] = None
    streams: ClassVar[str] = "cpu"
    ranking: Any = None
    scipy_package: ClassVar[str] = "scipy"
    matmul: Callable[..., Array]
    take: Callable[..., Array]
    take_along_axis: Callable[..., Array]
    where: Callable[..., Array]

    def scipy(self, part: str) -> Any:
        """`scipy.<part>` for this device; imported when first used.  ImportError says what to install."""
        return _scipy(f"{self.scipy_package}.{part}")

    def special(self, name: str) -> Callable[..., Array]:
        """A function of `scipy.special` for this device."""
        found: Callable[..., Array] = getattr(self.scipy("special"), name)
        return found

    def own(self, name: str) -> Callable[..., Array] | None:
        """A function of floats and doubles that the device has in one piece, which others make of several."""
        return None

    @property
    def transforms(self) -> Any:
        """`scipy.fft` for this device."""
        return self.scipy("fft")

    def products(self, a: Array, b: Array) -> Array:
        """a @ b of one dtype, for matrices and stacks of them."""
        return self.matmul(a, b)

    def weighted_sums(self, x: Array, axis: int, places: Array, weights: Array) -> Array:
        """x with each place i of `axis` the sum of x at places[i], times weights[i], in that order."""
        shape = [-1 if d == axis else 1 for d in range(x.ndim)]
        total: Any = 0
        for t in range(places.shape[1]):
            total = total + self.take(x, places[:, t], axis=axis) * weights[:, t].reshape(shape)
        return total

    def weighted_bytes(self, x: Array, axis: int, places: Array, weights: Array, digits: int) -> Array:
        """The same of bytes: weights are int32, with so many binary digits; sums are rounded."""
        total = self.weighted_sums(x.astype(np.int32), axis, places, weights) + ((1 << digits) >> 1)
        total = self.where(total < 0, 0, total >> digits)
        found: Array = self.where(total > 255, 255, total).astype(np.uint8)
        return found

    def weighted_picks(self, x: Array, places: Array, weights: Array) -> Array:
        """(N, C, P) sums of elements of x (N, C, cells) at places (N, P, taps), weighted; -1: a zero."""
        total: Any = 0
        for t in range(places.shape[2]):
            at = places[:, :, t]
            valid = at >= 0
            found = self.take_along_axis(x, self.where(valid, at, 0)[:, None], 2)
            total = total + self.where(valid[:, None], found, 0) * weights[:, None, :, t]
        return total

    def lapack(self, name: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
        """LAPACK's routine for a dtype, for arrays in host memory."""
        found: Callable[..., Any] = _scipy("scipy.linalg").lapack.get_lapack_funcs(name, dtype=dtype)
        return found

    def in_pieces(self, function: Callable[..., Array], *operands: Array) -> Array:
        """`function` of arrays, element by element."""
        return function(*operands)

    def to_host(self, x: Array) -> Any:
        """The elements as a NumPy array."""
        return np.asarray(x)


class WrappedNamespace(Namespace):
    """A namespace over a module of NumPy's names; what was asked for once is an attribute afterwards."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.__name__ = module.__name__

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        setattr(self, name, found)
        return found
