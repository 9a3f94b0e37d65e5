"""Base class of backends: arrays and kernels of one device type.

A backend creates arrays, which `ts.Tensor` wraps. Kernels call the functions of `backend.xp`, an array
namespace with NumPy's names. A backend can replace the kernel of an operator, such as the matrix product:

    overrides = {"aten::mm": my_mm}

Another package can add a backend. It derives a class from `Backend`, and assigns an instance to the variable
`backend` of a module. The package names the module in the entry point group `ts.backends`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ts._core.dispatch.operator import forget_kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array = Any  # array of any backend: numpy.ndarray, cupy.ndarray, MetaArray ...
Kernel = Callable[..., Any]  # called as kernel(xp, *args), like the kernel of an operator record


def default_of(kernel: Kernel, parameter: str) -> Any:
    """Return the default value of a kernel's parameter, such as a function that a backend replaces."""
    return inspect.signature(kernel).parameters[parameter].default


class KernelOverrides(dict[str, Kernel]):
    """Dict that maps the name of an operator ("aten::mm") or overload ("aten::add.Tensor") to a kernel.

    Each change to the dict clears the cache of bound kernels, so the change applies to the next call.
    """

    def __setitem__(self, name: str, kernel: Kernel) -> None:
        super().__setitem__(name, kernel)
        forget_kernels()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        forget_kernels()


class Backend:
    """Arrays, transfers and kernel overrides of one device type.  One instance exists per process."""

    name: ClassVar[str]  # the device type, such as "cpu"
    numbered: ClassVar[bool] = False  # True if devices print as `name:0`
    # number of the backend, by which `ts._core` selects kernels (set by `ts.backends.register`)
    index: int = -1
    xp: Any  # array namespace: functions with NumPy's names
    array_type: type  # base class of the backend's arrays

    def __init__(self) -> None:
        self.overrides = KernelOverrides()

    def device_count(self) -> int:
        """Return the number of devices of this type."""
        return 1

    def current_device(self) -> int:
        """Return the index of the device for new arrays, or -1 if devices have no index."""
        return -1

    def device_of(self, array: Array) -> int:
        """Return the index of the device of `array`, or -1 if devices have no index."""
        return -1

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> Array:
        """Return an array with uninitialized elements."""
        raise NotImplementedError

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> Array:
        """Copy a NumPy array to the device (host-to-device copy).

        With `non_blocking`, the copy may be asynchronous.
        """
        raise NotImplementedError

    def to_host(self, array: Array, non_blocking: bool = False) -> NDArray[Any]:
        """Return the elements as a NumPy array, without a copy if `array` already is a NumPy array."""
        raise NotImplementedError

    def move(self, array: Array, device: int) -> Array:
        """Return a copy of the array on another device of this type."""
        return self.from_host(self.to_host(array), device)

    def pin(self, array: NDArray[Any]) -> NDArray[Any]:
        """Copy a host array to pinned memory, from which an asynchronous copy is possible."""
        raise RuntimeError(f"Cannot pin memory for device '{self.name}'")

    def is_pinned(self, array: NDArray[Any]) -> bool:
        """Return whether a host array is in pinned memory."""
        return False

    def record_stream(self, array: Array, stream: Any) -> None:
        """Declare that `stream` uses the memory of `array`. By default, do nothing."""

    def synchronize(self, device: int = -1) -> None:
        """Wait until the device has finished all submitted work (device synchronization)."""

    def on(self, device: int) -> AbstractContextManager[Any]:
        """Return a context manager (device guard) that makes `device` current for kernels."""
        return nullcontext()

    def adopt(self, tensor: Any, like: Any) -> Any:
        """Return `tensor`, copied to the device of `like` unless both tensors have the same device."""
        return tensor if tensor.device == like.device else tensor.to(like.device)

    def new_stream(self) -> Any | None:
        """Return a random stream for a Generator on this device, or None to use the CPU's random stream."""
        return None

    def manual_seed(self, seed: int) -> None:
        """Seed the random streams of all devices of this type."""

    def run(self, kernel: Kernel, args: list[Any], device: int) -> Any:
        """Return the result of `kernel(*args)`, run with `device` as the current device."""
        with self.on(device):
            return kernel(*args)

    def bind_kernel(self, operator: Any) -> None:
        """Set the operator's C kernel, if one exists, by `set_kernel` of `ts._core.dispatch.operator`.

        A C kernel runs before the Python kernel of `bind`, and may call it for unsupported arguments.
        """

    def overridden(self, record: Any) -> bool:
        """Return whether `overrides` replaces the kernel of an operator record.

        This is also the case if `overrides` replaces the kernel of the operator record from which `record` is
        derived.
        """
        while record is not None:
            if record.key in self.overrides or record.name in self.overrides:
                return True
            record = record.base
        return False

    def own_kernel(self, record: Any) -> Kernel | None:
        """Return this backend's kernel for an operator record, such as a generated kernel, or None.

        `bind` calls this method if `overrides` has no kernel for the operator record.
        """
        return None

    def group(self, program: Any) -> Callable[[Sequence[Any]], dict[int, Array] | None] | None:
        """Return a function that runs a fusion group (`ts.fusion.program`), or None if fusion is unsupported.

        The returned function receives the inputs of the group. It returns a dict from value numbers to
        arrays, or None if all operators must run separately. The arrays are the results, and inputs of
        epilogues. If the dict contains the input of an epilogue, the caller runs the epilogue as a separate
        operator.
        """
        return None

    def bind(self, record: Any) -> Kernel:
        """Return the Python kernel for an operator record.

        The kernel comes from `overrides`, else from `own_kernel`, else from the operator record. An override
        for a name without overload ("aten::add") applies to all overloads. For variants such as `add_`, the
        kernel is derived from the backend's kernel for `add`, if the variant has none.
        """
        derived = record.base is not None and record.derive is not None
        kernel = self.overrides.get(record.key)
        # An override that is registered by operator name, without overload, lacks the additional parameter of
        # `out=` variants, so it is not used for these variants.
        if kernel is None and record.variant != "out":
            kernel = self.overrides.get(record.name)
        kernel = kernel or self.own_kernel(record)
        if kernel is not None:
            return kernel
        if derived:
            kernel = Backend.bind(self, record.base)
            if kernel is not record.base.kernel:
                return record.derive(kernel)  # type: ignore[no-any-return]
        return record.kernel  # type: ignore[no-any-return]
