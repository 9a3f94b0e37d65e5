"""The contract of a backend: arrays on one type of device.

In: shapes, NumPy dtypes, host arrays; out: arrays that `ts.Tensor` wraps.  Kernels are written against
`backend.xp`, an array namespace with NumPy's names, and a backend replaces one only where it does better,
by the operator's name:

    class Backend:  name "cpu", xp numpy, overrides {"aten::mm": my_mm}

A third party derives from `Backend` and names the module in the entry point group `ts.backends`; the
module's `backend` attribute is the instance.
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

Array = Any  # numpy.ndarray, cupy.ndarray, MetaArray ...
Kernel = Callable[..., Any]  # kernel(xp, *args), as in an operator's record


def default_of(kernel: Kernel, parameter: str) -> Any:
    """A kernel's default for a parameter: `compute` is what a backend may do its own way."""
    return inspect.signature(kernel).parameters[parameter].default


class KernelOverrides(dict[str, Kernel]):
    """Kernels by operator ("aten::mm") or overload ("aten::add.Tensor"); each holds from when it is set."""

    def __setitem__(self, name: str, kernel: Kernel) -> None:
        super().__setitem__(name, kernel)
        forget_kernels()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        forget_kernels()


class Backend:
    """Arrays, transfers and kernel overrides of one device type.  One instance exists per process."""

    name: ClassVar[str]  # the device type: "cpu"
    numbered: ClassVar[bool] = False  # whether devices print as `name:0`
    index: int = -1  # place in the list of backends; set by `register`
    xp: Any  # array namespace with NumPy's names
    array_type: type  # what its arrays are instances of

    def __init__(self) -> None:
        self.overrides = KernelOverrides()

    def device_count(self) -> int:
        """How many devices of this type there are."""
        return 1

    def current_device(self) -> int:
        """The number of the device that new arrays go to; -1 where devices have no number."""
        return -1

    def device_of(self, array: Array) -> int:
        """The number of the device that `array` is on; -1 where devices have no number."""
        return -1

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any], device: int = -1) -> Array:
        """An array with undefined elements."""
        raise NotImplementedError

    def from_host(self, host: NDArray[Any], device: int = -1, non_blocking: bool = False) -> Array:
        """A copy of a NumPy array on the device; `non_blocking`: it may be under way still."""
        raise NotImplementedError

    def to_host(self, array: Array, non_blocking: bool = False) -> NDArray[Any]:
        """The elements as a NumPy array; the array itself where that is one."""
        raise NotImplementedError

    def move(self, array: Array, device: int) -> Array:
        """The array on another device of this type."""
        return self.from_host(self.to_host(array), device)

    def pin(self, array: NDArray[Any]) -> NDArray[Any]:
        """A host array's elements in memory that transfers to the device need not copy first."""
        raise RuntimeError(f"Cannot pin memory for device '{self.name}'")

    def is_pinned(self, array: NDArray[Any]) -> bool:
        """Whether a host array's elements are in such memory."""
        return False

    def synchronize(self, device: int = -1) -> None:
        """Wait until all work given to the device is done."""

    def on(self, device: int) -> AbstractContextManager[Any]:
        """The context in which kernels run for this device."""
        return nullcontext()

    def adopt(self, tensor: Any, like: Any) -> Any:
        """A 0-dim CPU tensor on the device of `like`, which is this backend's; other tensors as they are."""
        return tensor if tensor.device == like.device else tensor.to(like.device)

    def new_stream(self) -> Any | None:
        """A stream of random numbers for a Generator on this device; None: the CPU's serves."""
        return None

    def manual_seed(self, seed: int) -> None:
        """Start the streams of random numbers of all devices anew."""

    def run(self, kernel: Kernel, args: list[Any], device: int) -> Any:
        """kernel(*args) for this device."""
        with self.on(device):
            return kernel(*args)

    def bind_kernel(self, operator: Any) -> None:
        """Set the operator's kernel in C where there is one: `set_kernel` of `ts._core.dispatch.operator`.

        It comes before what `bind` finds, and may leave to that what it does not take.
        """

    def overridden(self, record: Any) -> bool:
        """Whether an override holds for a record, or for the one that it is derived from."""
        while record is not None:
            if record.key in self.overrides or record.name in self.overrides:
                return True
            record = record.base
        return False

    def own_kernel(self, record: Any) -> Kernel | None:
        """The kernel that the backend makes for a record, where it has a general way to; see `bind`."""
        return None

    def group(self, program: Any) -> Callable[[Sequence[Any]], dict[int, Array] | None] | None:
        """What runs a fused group (`ts.fusion.program`): its inputs in, arrays by value out.

        It gives the results; of an end that it leaves to its operator, what that reads.  It gives None for
        inputs that it leaves to the operators one by one.  None: there are no groups here.
        """
        return None

    def bind(self, record: Any) -> Kernel:
        """The kernel in Python for an operator record: an override, one that was made, or the record's own.

        An override under the name without overload ("aten::add") holds for all overloads, and what is found
        for `add` holds for the forms that are derived from it, `add_` and `add` with `out=`.
        """
        derived = record.base is not None and record.derive is not None
        found = self.overrides.get(record.key)
        if found is None and record.variant != "out":  # which has the name too, but other arguments
            found = self.overrides.get(record.name)
        found = found or self.own_kernel(record)
        if found is not None:
            return found
        if derived:
            kernel = Backend.bind(self, record.base)
            if kernel is not record.base.kernel:
                return record.derive(kernel)  # type: ignore[no-any-return]
        return record.kernel  # type: ignore[no-any-return]
