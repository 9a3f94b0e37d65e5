"""CPU backend: NumPy arrays, with C kernels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ts._core.dispatch.operator import Operator

from ..base import Backend, Kernel
from .kernels import python_kernels
from .namespace import namespace

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Operator name -> module of this package whose function `kernel(record)` creates the operator's CPU kernel. A
# module is imported when one of its operators is first called.
KERNELS = {
    **{
        f"aten::{name}": "conv_decomposition"
        for name in ("convolution", "_convolution", "convolution_backward")
    },
    **{f"aten::conv{kind}{n}d": "conv_decomposition" for kind in ("", "_transpose") for n in (1, 2, 3)},
    **{
        f"aten::{kind}_pool{n}d": "pooling"
        for kind in ("max", "avg", "adaptive_avg", "adaptive_max")
        for n in (1, 2, 3)
    },
    **{f"aten::{name}": "kernels.gemm_ops" for name in ("addmm", "baddbmm", "bmm", "matmul", "linear")},
    "aten::einsum": "einsum",
    **{f"aten::max_pool{n}d_with_indices": "pooling" for n in (1, 2, 3)},
    **{f"aten::{kind}avg_pool{n}d_backward": "pooling" for kind in ("", "_adaptive_") for n in (2, 3)},
}


class CpuBackend(Backend):
    """NumPy backend, with C kernels for operators that are slow in NumPy."""

    name = "cpu"
    xp = namespace
    array_type = np.ndarray
    run = staticmethod(python_kernels.run)

    def bind_kernel(self, operator: Operator) -> None:
        """Set the operator's C kernel, unless `overrides` has a kernel for its operator record."""
        if not self.overridden(operator.record):
            import_module(f"{__name__}.kernels.kernel_binding").bind(operator)

    def bind(self, record: Any) -> Kernel:
        """Return the Python kernel for an operator record.

        The kernel rejects dtypes that PyTorch does not support.
        """
        guarded: Kernel = record.guarded(super().bind(record))
        return guarded

    def own_kernel(self, record: Any) -> Kernel | None:
        """Return the kernel of the module that `KERNELS` lists for an operator record.

        Return None for derived variants (in-place, `out=`), and if `KERNELS` lists no module.
        """
        module = KERNELS.get(record.name)
        if module is None or record.variant:
            return None
        kernel: Kernel = import_module(f"{__name__}.{module}").kernel(record)
        return kernel

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> NDArray[Any]:
        """Return a NumPy array with uninitialized elements."""
        return np.empty(shape, dtype)

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> NDArray[Any]:
        """Return a copy of a NumPy array with the same memory order."""
        return host.copy(order="K")

    def to_host(self, array: NDArray[Any], non_blocking: bool = False) -> NDArray[Any]:
        """Return `array` itself, because it is in host memory."""
        return array


def get_cpu_capability() -> str:
    """Return PyTorch's name of the SIMD level: "AVX512", "AVX2" or "DEFAULT"."""
    level = import_module(f"{__name__}.kernels.simd_level").current_level()
    return {"avx512": "AVX512", "avx2": "AVX2"}.get(level, "DEFAULT")


if os.environ.get("TS_SIMD"):
    import_module(f"{__name__}.kernels.simd_level").check_request()
backend = CpuBackend()
