"""Parametrizations: parameters that are computed from original tensors at each access.

A parametrization is a module. Its method `forward` computes the parameter from the original tensor. The
optional method `right_inverse` computes the original tensor from the parameter.

Example:

    register_parametrization(layer, "weight", Symmetric())
    layer.weight                                # Symmetric()(layer.parametrizations.weight.original)
    remove_parametrizations(layer, "weight")    # a plain parameter with the current value
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.nn.modules.container import ModuleDict, ModuleList
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter

_cache: dict[tuple[int, str], Any] = {}
_cached_blocks = 0


@contextmanager
def cached() -> Iterator[None]:
    """Within this context, compute each parametrized value only once."""
    global _cached_blocks
    _cached_blocks += 1
    try:
        yield
    finally:
        _cached_blocks -= 1
        if not _cached_blocks:
            _cache.clear()


class ParametrizationList(ModuleList):
    """Parametrizations of one tensor, applied in order to `original` (or `original0`, `original1`, ...)."""

    def __init__(self, modules: Any, original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        value: Any = original
        with ts.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    # a parametrization without an inverse leaves `value` unchanged
                    with suppress(NotImplementedError):
                        value = module.right_inverse(value)
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        if isinstance(value, Tensor):
            self._set_original("original", original, value)
        else:
            for i, tensor in enumerate(value):
                self._set_original(f"original{i}", original, tensor)
        if not unsafe:
            self._check(original)

    def _set_original(self, name: str, original: Tensor, value: Tensor) -> None:
        if not isinstance(original, Parameter):
            self.register_buffer(name, value)
        elif value is original:
            self.register_parameter(name, original)
        else:
            self.register_parameter(name, Parameter(value.detach(), original.requires_grad))

    def _check(self, original: Tensor) -> None:
        value = self()
        if not isinstance(value, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
        for name in ("dtype", "shape"):
            before, after = getattr(original, name), getattr(value, name)
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {name} of the tensor, unless `unsafe` "
                    f"flag is enabled.\nunparametrized {name}: {before}\nparametrized {name}: {after}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Set the original tensors to the result of the inverse maps for `value`, from last to first."""
        with ts.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            tensors = [value] if self.is_tensor else list(value)
            for original, tensor in zip(self._originals(), tensors, strict=True):
                original.set_(tensor.detach().clone())

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def forward(self) -> Any:
        """Return the parametrized value."""
        modules = list(self)
        value = modules[0](*self._originals())
        for module in modules[1:]:
            value = module(value)
        return value


def _property(name: str) -> property:
    def value(module: Any) -> Any:
        if not _cached_blocks:
            return module.parametrizations[name]()
        key = (id(module), name)
        if key not in _cache:
            _cache[key] = module.parametrizations[name]()
        return _cache[key]

    def assign(module: Any, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(value, assign)


def _raise_pickle_error(module: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(module: Any, memo: dict[int, Any]) -> Any:
    copied = memo[id(module)] = module.__new__(type(module))
    copied.__dict__ = copy.deepcopy(module.__dict__, memo)
    cls = type(module)
    copied.__class__ = type(cls.__name__, cls.__bases__, dict(cls.__dict__))
    return copied


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """Add a parametrization to a parameter or buffer, after existing ones."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        steps = module.parametrizations[tensor_name]
        if not unsafe and (value := getattr(module, tensor_name)) is not None:
            changed = parametrization(value)
            for name in ("dtype", "shape"):
                if getattr(changed, name) != getattr(value, name):
                    raise ValueError(
                        f"Registering a parametrization may not change the {name} of the tensor, unless the "
                        f"`unsafe` flag is enabled.\nmodule.{tensor_name}.{name}: {getattr(value, name)}\n"
                        f"parametrization(module.{tensor_name}).{name}: {getattr(changed, name)}"
                    )
        steps.append(parametrization)
        steps.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    steps = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _become_parametrized(module)
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = steps
    return module


def _become_parametrized(module: Any) -> None:
    """Set the class of a module to a new subclass, to which properties for parametrized tensors are added."""
    cls = type(module)
    attributes = {"__getstate__": _raise_pickle_error, "__deepcopy__": _deepcopy, "__module__": __name__}
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), attributes)
    module.parametrizations = ModuleDict()


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Return True if a module, or its tensor `tensor_name`, has parametrizations."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make the tensor a plain parameter or buffer again.

    The tensor keeps the value that the parametrizations compute. With `leave_parametrized=False`, it gets the
    original value.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    steps = module.parametrizations[tensor_name]
    if not steps.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    original = steps._originals()[0]
    value = getattr(module, tensor_name).detach() if leave_parametrized else original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        parameter = value if value is original else Parameter(value, original.requires_grad)
        module.register_parameter(tensor_name, parameter)
    else:
        module.register_buffer(tensor_name, value)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type[Any]:
    """Return the module's class before parametrization."""
    cls: type[Any] = type(module)
    return cls.__bases__[0] if is_parametrized(module) else cls
