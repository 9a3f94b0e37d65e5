"""Parameters and buffers: tensors that a module registers when they are assigned to attributes.

Input: a tensor. Output: a parameter or buffer with the same memory.

Example:

    self.weight = Parameter(ts.empty(3, 2))                # requires grad
    self.mean = Buffer(ts.zeros(3), persistent=False)      # excluded from `state_dict`
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self, cast

import ts
from ts._core.tensor.object_state import get_state, set_state
from ts._core.tensor.sharing import register_class
from ts._core.tensor.tensor import Tensor, rebind_array
from ts._core.tensor.tensor_type import TensorMeta, _disabled_torch_function_impl


class _ParameterMeta(TensorMeta):
    """Metaclass of Parameter. A tensor `x` is also a Parameter for `isinstance` if `x._is_param` is True."""

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """Tensor that modules register as parameter."""

    __torch_function__ = _disabled_torch_function_impl

    _is_param = True

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        """Return a parameter with the memory of `data`, or an empty parameter if `data` is None.

        If the class of `data` is another subclass of Tensor, the parameter has this class. Raise RuntimeError
        if method `detach` of the subclass returns an instance of another class.
        """
        tensor = ts.empty(0) if data is None else data
        if type(tensor) is Tensor or type(tensor) is Parameter:
            return cast(Self, Tensor._make_subclass(cls, tensor, requires_grad))
        parameter: Any = tensor.detach().requires_grad_(requires_grad)
        if type(parameter) is not type(tensor):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(tensor).__name__} requires that "
                "detach() returns an instance of the same type, but return type "
                f"{type(parameter).__name__} was found instead. To use the type as a Parameter, please "
                "correct the detach() semantics defined by its __torch_dispatch__() implementation."
            )
        vars(parameter)["_is_param"] = True
        return cast(Self, parameter)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) in memo:
            return cast(Parameter, memo[id(self)])
        copied: Parameter = type(self)(self.detach().clone(), self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        state = get_state(self)
        arguments = self.detach(), self.requires_grad
        return (_parameter, arguments) if not state else (_parameter_with_state, (*arguments, state))


def _parameter(data: Tensor, requires_grad: bool) -> Parameter:
    """Create a parameter from its pickle."""
    return Parameter(data, requires_grad)


def _parameter_with_state(data: Tensor, requires_grad: bool, state: Any) -> Parameter:
    """Create a parameter with attributes from its pickle."""
    parameter: Parameter = Parameter(data, requires_grad)
    set_state(parameter, state)
    return parameter


register_class(Parameter)


class _BufferMeta(TensorMeta):
    """Metaclass of Buffer: `isinstance` is True for every tensor that is marked as a buffer."""

    def __instancecheck__(cls, instance: object) -> bool:
        if cls is Buffer:
            return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        return type.__instancecheck__(cls, instance)


class Buffer(Tensor, metaclass=_BufferMeta):
    """Tensor that modules register as buffer. `persistent=False` excludes it from `state_dict`.

    The constructor returns a Tensor with the memory of `data`. Only uninitialized buffers of lazy layers are
    instances of the class itself.
    """

    __torch_function__ = _disabled_torch_function_impl

    persistent = True
    _is_buffer = True

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Self:
        """Return a buffer with the memory of `data`, or an empty buffer if `data` is None."""
        tensor = ts.empty(0) if data is None else data
        buffer: Any = tensor.detach().requires_grad_(tensor.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return cast(Self, buffer)


_SUPPORTED_ATTRIBUTES = frozenset(
    {
        "become",
        "detach",
        "is_floating_point",
        "is_complex",
        "requires_grad",
        "requires_grad_",
        "device",
        "dtype",
        "is_leaf",
        "grad",
        "data",
        "materialize",
        "share_memory_",
    }
)


def _ask_uninitialized(tensor: Any, name: str) -> Any:
    if name == "shape":
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )
    if name in _SUPPORTED_ATTRIBUTES or name.startswith("_"):
        return object.__getattribute__(tensor, name)
    raise uninitialized(name)


def uninitialized(name: str) -> ValueError:
    """Return the error that operations on a parameter or buffer without shape raise."""
    return ValueError(
        f"Attempted to use an uninitialized parameter in {name}. This error happens when you are using a "
        "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When "
        "using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling "
        "torch functions"
    )


class UninitializedTensorMixin:
    """Base class of parameters and buffers without a shape."""

    _materialized_class: ClassVar[type[Tensor]]

    def __getattribute__(self, name: str) -> Any:
        return _ask_uninitialized(self, name)

    def detach(self) -> Any:
        """Return the tensor itself, so that `state_dict` contains it."""
        return self

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or buffer of the given shape with uninitialized elements.

        `device` and `dtype` default to those of this tensor.
        """
        tensor: Any = self
        tensor.become(ts.empty(shape, device=device or tensor.device, dtype=dtype or tensor.dtype))

    def share_memory_(self) -> NoReturn:
        """Raise RuntimeError: the tensor has no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
            "parameters before "
            "calling `module.share_memory()`."
        )

    def become(self, tensor: Tensor) -> None:
        """Become an ordinary parameter or buffer with the memory of `tensor`."""
        rebind_array(self, tensor.array)  # type: ignore[arg-type]
        self.__class__ = self._materialized_class  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__


def is_lazy(param: Any) -> bool:
    """Return True if a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """Parameter without a shape, as in `LazyLinear`."""

    _materialized_class = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Self:
        """Return a parameter without a shape. `materialize` uses `dtype` and `device` by default."""
        parameter = Tensor._make_subclass(cls, ts.empty(0, dtype=dtype, device=device), requires_grad)
        return cast(Self, parameter)

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedParameter:
        copied: UninitializedParameter = type(self)(self.requires_grad, self.device, self.dtype)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return UninitializedParameter, (self.requires_grad, self.device, self.dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """Buffer without a shape."""

    _materialized_class = Buffer
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Self:
        """Return a buffer without a shape. `materialize` uses `dtype` and `device` by default."""
        buffer = Tensor._make_subclass(cls, ts.empty(0, dtype=dtype, device=device), requires_grad)
        return cast(Self, buffer)

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedBuffer:
        copied: UninitializedBuffer = type(self)(False, self.device, self.dtype)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return UninitializedBuffer, (False, self.device, self.dtype)


def is_uninitialized(tensor: Any) -> bool:
    """Return True for a parameter or buffer that has no shape yet."""
    return isinstance(tensor, (UninitializedParameter, UninitializedBuffer))
