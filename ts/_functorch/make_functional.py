"""Conversion of modules to functions of their parameters, by `make_functional` and its variants.

In the example, the last line returns the same result as `net(x)`:

    functional, parameters = make_functional(net)
    functional(parameters, x)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.func import stack_module_state
from ts.nn import Module
from ts.unsupported import names_for

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
    "make_functional_with_buffers",
]  # fmt: skip
__getattr__ = names_for(__name__)
NamesMap = dict[str, list[str]]


class FunctionalModule(Module):
    """Module without parameters of its own. In a call, the first argument is the tuple of parameters.

    names_map  first name of each parameter -> all names of the parameter
    """

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...], names_map: NamesMap) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.names_map = names_map

    @staticmethod
    def _create_from(
        model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
        stateless = copy.deepcopy(model)
        params, names, names_map = _remove_members(stateless, stateless.named_parameters)
        if disable_autograd_tracking:
            for param in params:
                param.requires_grad_(False)
        return FunctionalModule(stateless, names, names_map), params

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with the given parameters."""
        return _call_with_tensors(self.stateless_model, self.names_map, params, args, kwargs)


class FunctionalModuleWithBuffers(Module):
    """Module without parameters and buffers. A call receives them as its first two arguments, both tuples."""

    def __init__(
        self,
        stateless_model: Module,
        param_names: tuple[str, ...],
        buffer_names: tuple[str, ...],
        param_names_map: NamesMap,
        buffer_names_map: NamesMap,
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = {**param_names_map, **buffer_names_map}

    @staticmethod
    def _create_from(
        model: Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
        stateless = copy.deepcopy(model)
        params, names, names_map = _remove_members(stateless, stateless.named_parameters)
        buffers, buffer_names, buffer_names_map = _remove_members(stateless, stateless.named_buffers)
        if disable_autograd_tracking:
            for param in params:
                param.requires_grad_(False)
        functional = FunctionalModuleWithBuffers(stateless, names, buffer_names, names_map, buffer_names_map)
        return functional, params, buffers

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with the given parameters and buffers."""
        return _call_with_tensors(self.stateless_model, self.all_names_map, [*params, *buffers], args, kwargs)


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """Return a module's function of its parameters and arguments, and copies of the parameters.

    Raises RuntimeError for a module with buffers.
    """
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) "
            "instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return a function of parameters, buffers and arguments, and copies of the parameters and buffers."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return the first module as a function, and the stacked parameters and buffers of all modules.

    Raises RuntimeError for an empty list, and for modules of different classes or training modes.
    """
    name = "combine_state_for_ensemble"
    if len(models) == 0:
        raise RuntimeError(f"{name}: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError(f"{name}: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError(f"{name}: Expected all models to be of the same class.")
    params, buffers = stack_module_state(models)
    functional, _, _ = make_functional_with_buffers(models[0])
    stacked_params, stacked_buffers = (
        tuple(x.detach() for x in members.values()) for members in (params, buffers)
    )
    return functional, stacked_params, stacked_buffers


def _remove_members(
    module: Module, named_members: Callable[..., Iterable[tuple[str, Tensor]]]
) -> tuple[tuple[Tensor, ...], tuple[str, ...], NamesMap]:
    """Replace the parameters or buffers of a module by meta tensors.

    Return the original tensors, the first name of each, and a dict from this name to all names of the tensor.
    """
    members: dict[int, Tensor] = {}
    names_of: dict[int, list[str]] = {}
    for name, tensor in named_members(remove_duplicate=False):
        members.setdefault(id(tensor), tensor)
        names_of.setdefault(id(tensor), []).append(name)
    names_map = {names[0]: names for names in names_of.values()}
    empty = [_to_meta(tensor) for tensor in members.values()]
    _swap_members(module, names_map, empty)
    return tuple(members.values()), tuple(names_map), names_map


def _to_meta(tensor: Any) -> Any:
    meta = tensor.detach().to("meta")
    return type(tensor)(meta, requires_grad=tensor.requires_grad) if hasattr(tensor, "_is_param") else meta


def _swap_members(module: Module, names_map: NamesMap, tensors: Iterable[Tensor]) -> list[Tensor]:
    """Replace parameters and buffers of a module by `tensors`, and return the replaced tensors."""
    before = []
    for names, tensor in zip(names_map.values(), tensors, strict=False):
        for i, name in enumerate(names):
            path, _, last = name.rpartition(".")
            owner: Any = module.get_submodule(path)
            table = owner._parameters if last in owner._parameters else owner._buffers
            if i == 0:
                before.append(table[last])
            table[last] = tensor
    return before


def _call_with_tensors(
    module: Module, names_map: NamesMap, tensors: Iterable[Tensor], args: Any, kwargs: dict[str, Any]
) -> Any:
    before = _swap_members(module, names_map, tensors)
    try:
        return module(*args, **kwargs)
    finally:
        _swap_members(module, names_map, before)
