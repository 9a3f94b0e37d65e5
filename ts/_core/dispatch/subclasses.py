"""Subclasses of `Tensor`: result conversion and overridable tensor methods.

Operators call `__torch_function__` of their arguments' classes (`overrides.pyx`). Methods of `Tensor` that
are not operators, such as `x.to(...)`, do not call it. Therefore, each subclass gets copies of these methods,
wrapped in an `Overridable` that calls it. Example:

    class Kept(ts.Tensor): ...
    Kept([1.0]) + 1                 # an instance of Kept
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ts._core.dispatch.overloads import OverloadSet
from ts._core.dispatch.overrides import Overridable, class_overrides
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import DisableTorchFunction, count_overriding

# Names of members of `Tensor` (for creation, copies, pickling and attribute access) that run without a call
# of `__torch_function__`, also for subclasses.
_NOT_OVERRIDABLE: Final = """
    __new__ __init__ __init_subclass__ __torch_function__ as_subclass _make_subclass __getattr__
    __getattribute__ __setattr__ __delattr__ __class__ __dict__ __doc__ __module__ __weakref__ __slots__
    __hash__ __iter__ __str__ __getstate__ __setstate__ __reduce__ __reduce_cython__
    __setstate_cython__ __pyx_vtable__ __pyx_capi__ __array_priority__
    __cuda_array_interface__ _marked _host _number _element _dimension
    array base scalar_type backend device_index _base
"""
# The methods of Python's operators (`+`, `==`) need no wrapper, because they call operators of `ts`, and
# these call `__torch_function__`.
_OPERATORS: Final = """
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __rdiv__ __floordiv__
    __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__
    __lshift__ __rlshift__ __rshift__ __rrshift__ __neg__ __pos__ __abs__ __matmul__ __rmatmul__
    __invert__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__
    __ixor__ __ilshift__ __irshift__ __lt__ __le__ __eq__ __ne__ __gt__ __ge__
"""
# Methods that PyTorch implements in Python.
_IN_PYTHON: Final = """
    __array__ __array_wrap__ __contains__ __deepcopy__ __dlpack__ __dlpack_device__ __format__ __len__
    __reduce_ex__ __repr__ __reversed__ _typed_storage dim_order is_shared istft register_hook resize
    resize_as share_memory_ split storage unflatten
"""
_PLAIN = frozenset((_NOT_OVERRIDABLE + _OPERATORS).split())
_PYTHON_METHODS = frozenset(_IN_PYTHON.split())


def initialize_subclass(cls: type[Tensor]) -> None:
    """Set copies of `Tensor`'s methods in a new subclass. The copies call `__torch_function__`."""
    count_overriding()
    for base in cls.__mro__[1:]:
        if base is Tensor:
            break
        if issubclass(base, Tensor) and class_overrides(base):
            return  # A base class already has the copies, and the class inherits them.
    for name, member in Tensor.__dict__.items():
        if name not in cls.__dict__ and name not in _PLAIN:
            overridable = _wrap_overridable(member, name in _PYTHON_METHODS)
            if overridable is not None:
                setattr(cls, name, overridable)


def _wrap_overridable(member: Any, is_python: bool) -> Any:
    """Return a copy of a `Tensor` member that calls `__torch_function__`, or None if it needs no wrapper.

    `is_python` is True for methods that PyTorch implements in Python.
    """
    if isinstance(member, OverloadSet | Overridable | classmethod | staticmethod | type):
        return None
    if callable(member):
        return Overridable(member, member, is_python)
    if hasattr(type(member), "__get__") and hasattr(type(member), "__set__"):
        return _property(member)
    return None


def _property(member: Any) -> property:
    """Return a property with overridable accessors, such as `Tensor.grad.__get__`."""
    reader, writer, deleter = member.__get__, member.__set__, getattr(member, "__delete__", None)
    return property(
        Overridable(lambda x: reader(x), reader, False),
        Overridable(lambda x, value: writer(x, value), writer, False),
        None if deleter is None else Overridable(lambda x: deleter(x), deleter, False),
    )


# Functions whose results `Tensor.__torch_function__` returns without a conversion to the subclass.
NOT_CONVERTED: Final = frozenset(vars(Tensor)[name].__get__ for name in ("grad", "_base"))


def call_torch_function(
    cls: type[Tensor],
    function: Callable[..., Any],
    types: Iterable[type],
    args: Any,
    kwargs: dict[str, Any] | None,
) -> Any:
    """Implement `Tensor.__torch_function__`: call the function and convert result tensors to `cls`."""
    if not all(issubclass(cls, other) for other in types):
        return NotImplemented
    with DisableTorchFunction():
        result = function(*args, **(kwargs or {}))
        return result if function in NOT_CONVERTED else _of_class(result, cls)


def _of_class(result: Any, cls: type[Tensor]) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, tuple | list):
        return type(result)([_of_class(item, cls) for item in result])
    return result
