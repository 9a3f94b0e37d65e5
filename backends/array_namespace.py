"""Array namespace `xp` (array API), which kernels receive and which has NumPy's functions for one device.

`WrappedNamespace` creates the namespace from a module with NumPy's functions. Kernels therefore need not test
the types of their arrays. A namespace also has these attributes, which NumPy lacks:

    xp.shapes_only            True if arrays have shapes but no elements (meta)
    xp.has_svd_drivers        True if `linalg.svd` accepts the name of a cuSOLVER driver (CUDA and meta)
    xp.has_low_precision_products  True if `products` adds products of 16-bit floats in float32 (CUDA)
    xp.scipy("linalg")        the device's equivalent of scipy.linalg
    xp.special("erf")         the device's implementation of a function of scipy.special
    xp.find_kernel("silu")    a kernel that computes a whole function in one pass, or None
    xp.transforms             the device's equivalent of scipy.fft
    xp.products(a, b)         the product of matrices or matrix stacks, by the device's fastest method
    xp.wide_products(a, b)    the product of matrix stacks, in float32 for 16-bit floats
    xp.weighted_sums(x, d, indices, weights)  weighted sums along a dimension, used for resampling
    xp.weighted_bytes(...)                    weighted sums of uint8 elements, rounded
    xp.weighted_picks(x, indices, weights)    weighted sums of elements of a plane, for `grid_sample`
    xp.in_pieces(f, x, y)     an elementwise f(x, y), computed in chunks with checks of the time limit
    xp.to_host(x)             the elements as a NumPy array
    xp.ranking                the device's sorting functions for `ts.ops.argsort`, or None
    xp.check_indices(i, low, high)    checks an index range on the device, without waiting, or None
    xp.lapack("sytrf", dtype)     a LAPACK routine for arrays in host memory
    xp.random_stream          a function that returns the device's random stream, or None
    xp.streams                the device type of the random streams
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

Array = Any  # array of any backend: numpy.ndarray, cupy.ndarray, MetaArray ...


def _scipy(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        module_name = module.rpartition(".")[2]
        raise ImportError(f"this operator needs SciPy's `{module_name}`: pip install scipy") from error


class Namespace:
    """Device-specific functions of an array namespace. The defaults here work for NumPy arrays."""

    shapes_only: ClassVar[bool] = False
    has_svd_drivers: ClassVar[bool] = False
    has_low_precision_products: ClassVar[bool] = False
    random_stream: ClassVar[Callable[[], Any] | None] = None
    streams: ClassVar[str] = "cpu"
    ranking: Any = None
    check_indices: ClassVar[Callable[..., None] | None] = None
    scipy_package: ClassVar[str] = "scipy"
    matmul: Callable[..., Array]
    take: Callable[..., Array]
    take_along_axis: Callable[..., Array]
    where: Callable[..., Array]

    def scipy(self, module_name: str) -> Any:
        """Return this device's equivalent of `scipy.<module_name>`, imported at first use.

        Raise ImportError with install instructions if SciPy is missing.
        """
        return _scipy(f"{self.scipy_package}.{module_name}")

    def special(self, name: str) -> Callable[..., Array]:
        """Return this device's implementation of function `name` of `scipy.special`."""
        result: Callable[..., Array] = getattr(self.scipy("special"), name)
        return result

    def find_kernel(self, name: str) -> Callable[..., Array] | None:
        """Return a kernel that computes the whole function `name` in one pass, or None if it does not exist.

        The kernel supports float32 and float64. Without it, the operator calls several NumPy functions.
        """
        return None

    @property
    def transforms(self) -> Any:
        """The device's equivalent of `scipy.fft`."""
        return self.scipy("fft")

    def products(self, a: Array, b: Array) -> Array:
        """Return a @ b for matrices, or matrix stacks, of one dtype."""
        return self.matmul(a, b)

    def wide_products(self, a: Array, b: Array) -> Array:
        """Return a @ b for stacks of matrices. The product of 16-bit floats has float32."""
        return self.products(a, b) if a.dtype.itemsize != 2 else self.products(
            a.astype(np.float32), b.astype(np.float32)
        )

    def weighted_sums(self, x: Array, axis: int, indices: Array, weights: Array) -> Array:
        """Return weighted sums of elements of `x` along `axis`.

        Element i of the result is the sum over t of x[indices[i, t]] * weights[i, t], added in the order of
        increasing t.
        """
        shape = [-1 if d == axis else 1 for d in range(x.ndim)]
        total: Any = 0
        for t in range(indices.shape[1]):
            total = total + self.take(x, indices[:, t], axis=axis) * weights[:, t].reshape(shape)
        return total

    def weighted_bytes(self, x: Array, axis: int, indices: Array, weights: Array, digits: int) -> Array:
        """Return weighted sums of uint8 elements along `axis` in fixed-point arithmetic, clamped to 0..255.

        The weights are int32 fixed-point numbers with `digits` fractional bits.
        """
        total = self.weighted_sums(x.astype(np.int32), axis, indices, weights) + ((1 << digits) >> 1)
        total = self.where(total < 0, 0, total >> digits)
        result: Array = self.where(total > 255, 255, total).astype(np.uint8)
        return result

    def weighted_picks(self, x: Array, indices: Array, weights: Array) -> Array:
        """Return weighted sums of elements of `x`, an array of shape (N, C, number of positions).

        `indices` and `weights` have shape (N, P, T). Element (n, c, p) of the result is the sum over t of
        x[n, c, indices[n, p, t]] * weights[n, p, t]. The index -1 selects the value 0.
        """
        total: Any = 0
        for t in range(indices.shape[2]):
            at = indices[:, :, t]
            valid = at >= 0
            picked = self.take_along_axis(x, self.where(valid, at, 0)[:, None], 2)
            total = total + self.where(valid[:, None], picked, 0) * weights[:, None, :, t]
        return total

    def lapack(self, name: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
        """Return the LAPACK routine `name` for arrays of the given dtype in host memory."""
        result: Callable[..., Any] = _scipy("scipy.linalg").lapack.get_lapack_funcs(name, dtype=dtype)
        return result

    def in_pieces(self, function: Callable[..., Array], *operands: Array) -> Array:
        """Return the result of an elementwise function of arrays.

        The CPU namespace overrides this method: under a time limit, it calls the function on one chunk after
        another.
        """
        return function(*operands)

    def to_host(self, x: Array) -> Any:
        """Return the elements as a NumPy array."""
        return np.asarray(x)


class WrappedNamespace(Namespace):
    """Namespace over a module with NumPy's functions. Attributes are cached at first access."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.__name__ = module.__name__

    def __getattr__(self, name: str) -> Any:
        result = getattr(self._module, name)
        setattr(self, name, result)
        return result
