"""The device `checked`: NumPy arithmetic that raises an error at the first NaN or infinity.

    x = ts.tensor([1.0, 0.0], device="checked")
    x.log()            FloatingPointError: aten::log returned -inf at [1] for finite arguments

To find the operator that computes the first NaN of a model, move the model to this device. Results are only
checked for finite arguments, because other arguments are no error of the operator. Sums, products and means
of 16-bit and 32-bit floats are computed in float64 and rounded once, so that they do not overflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts.backends.base import Backend, Kernel

WIDENED = ("aten::sum", "aten::mean", "aten::prod", "aten::mm", "aten::bmm", "aten::matmul", "aten::dot")


class CheckedArray(np.ndarray):
    """Array type of this device, by which `ts` finds the backend."""


def floating(x: Any) -> bool:
    """Return True if a value is an array of a dtype with NaN."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def to_numpy(x: Any) -> Any:
    """Convert arrays of this device, also in lists, to NumPy arrays on the same memory."""
    if isinstance(x, CheckedArray):
        return x.view(np.ndarray)
    return [to_numpy(y) for y in x] if isinstance(x, list) else x


def to_checked(x: Any) -> Any:
    """Convert NumPy arrays, also in lists and tuples, to arrays of this device on the same memory."""
    if isinstance(x, (np.ndarray, np.generic)):
        return np.asarray(x).view(CheckedArray)
    return type(x)(map(to_checked, x)) if type(x) in (list, tuple) else x


def arrays(xs: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays in arguments or results."""
    for x in xs:
        if isinstance(x, (list, tuple)):
            yield from arrays(x)
        elif isinstance(x, np.ndarray):
            yield x


class CheckedBackend(Backend):
    """A device in host memory that runs the kernels of the records and checks their results."""

    name = "checked"
    xp = np
    array_type = CheckedArray

    # ---- arrays and transfers

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> CheckedArray:
        return np.empty(shape, dtype).view(CheckedArray)

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> CheckedArray:
        return host.copy(order="K").view(CheckedArray)

    def to_host(self, array: CheckedArray, non_blocking: bool = False) -> NDArray[Any]:
        return array.view(np.ndarray).copy(order="K")

    # ---- kernels

    def bind(self, record: Any) -> Kernel:
        """Return the kernel of a record with conversion to plain arrays and a check of the results."""
        kernel = super().bind(record)
        wide = (record.base or record).name in WIDENED

        def checked(xp: Any, *args: Any) -> Any:
            given = [to_numpy(x) for x in args]
            inputs = given[:-1] if record.variant == "out" else given
            finite = all(np.isfinite(x).all() for x in arrays(inputs) if floating(x))
            with np.errstate(all="ignore"):
                result = self.compute_in_float64(kernel, xp, given) if wide else kernel(xp, *given)
            if finite and record.family not in ("create", "to", "random", "view"):
                self.check_finite(record.name, result)
            for before, x in zip(args, given, strict=True):
                if result is x and isinstance(before, CheckedArray):
                    return before  # written in place or returned unchanged
            return to_checked(result)

        return checked

    def compute_in_float64(self, kernel: Kernel, xp: Any, given: list[Any]) -> Any:
        """Return the kernel's result, computed in float64."""
        kinds = {x.dtype for x in arrays(given) if floating(x)}
        if len(kinds) != 1 or (kind := kinds.pop()) not in (np.float16, np.float32):
            return kernel(xp, *given)
        result = kernel(xp, *[x.astype(np.float64) if floating(x) else x for x in given])
        return result.astype(kind) if result.dtype == np.float64 else result

    def check_finite(self, name: str, result: Any) -> None:
        """Raise FloatingPointError for a non-finite result."""
        for x in arrays([result]):
            if floating(x) and not np.isfinite(x).all():
                where = np.argwhere(~np.isfinite(x))[0].tolist()
                value = x[tuple(where)]
                raise FloatingPointError(f"{name} returned {value} at {where} for finite arguments")


backend = CheckedBackend()
