"""Handles of scripted modules (`_c`), with the interface of PyTorch's `torch._C.ScriptModule`.

A handle has the script attributes and methods of the module, but not the methods of `nn.Module`. The right
column describes the effect or result of each call:

    handle = scripted._c
    handle.getattr("weight")                        value of the attribute
    handle._get_method("forward").graph             graph of the method
    torch._C._jit_pass_remove_dropout(handle)       applies the pass to the graph of each method
    torch._C._freeze_module(handle, ["weight"])     handle of the frozen module
    torch._C.ParameterDict(handle).items()          (name, value) pairs
    torch.jit._recursive.wrap_cpp_module(handle)    the scripted module
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ts.ir.types import ModuleType
from ts.nn.modules.module import Module
from ts.runtime.script_method import ScriptMethod

if TYPE_CHECKING:
    from ts.runtime.module import ScriptModule


class ModuleHandle:
    """Script attributes and methods of a module, with the interface of `torch._C.ScriptModule`."""

    _module: ScriptModule

    def __init__(self, module: ScriptModule) -> None:
        object.__setattr__(self, "_module", module)

    def _type(self) -> ModuleType:
        """Return the script type of the module."""
        return self._module._concrete.type

    @property
    def qualified_name(self) -> str:
        """Qualified name of the script type of the module."""
        return self._type().qualified_name()

    def _method_names(self) -> list[str]:
        """Return the names of the compiled methods."""
        return list(self._type().methods)

    def _has_method(self, name: str) -> bool:
        """Return True if there is a compiled method of this name."""
        return name in self._type().methods

    def _get_method(self, name: str) -> ScriptMethod:
        """Return a compiled method. Raise RuntimeError for an unknown name."""
        if not self._has_method(name):
            raise RuntimeError(f"Method '{name}' is not defined.")
        return ScriptMethod(self._module, self._type().methods[name])

    def hasattr(self, name: str) -> bool:
        """Return True if there is a script attribute or submodule of this name. Methods do not count."""
        return name in self._type().attributes

    def getattr(self, name: str) -> Any:
        """Return the value of an attribute or the handle of a submodule.

        Raise AttributeError for other names.
        """
        if not self.hasattr(name):
            raise AttributeError(f"{self.qualified_name} does not have a field with name '{name}'")
        value = getattr(self._module, name)
        return ModuleHandle(value) if isinstance(value, Module) else value  # type: ignore[arg-type]

    def setattr(self, name: str, value: Any) -> None:
        """Assign to an existing attribute. Raise RuntimeError for other names."""
        if not self.hasattr(name):
            raise RuntimeError(f"{self.qualified_name} does not have an attribute with name '{name}'")
        setattr(self._module, name, wrap_handle(value))

    def save(self, path: Any, _extra_files: Any = None) -> None:
        """Write the module to an archive at `path`."""
        self._module.save(path, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the module's archive as bytes."""
        return self._module.save_to_buffer(_extra_files)

    def __getattr__(self, name: str) -> Any:
        return self._get_method(name) if self._has_method(name) else self.getattr(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.setattr(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleHandle) and self._module._object is other._module._object

    def __hash__(self) -> int:
        return id(self._module._object)


class _AttributeDict:
    """Base class of dictionaries of one kind of attributes of a module."""

    def __init__(self, handle: ModuleHandle) -> None:
        self._handle = handle

    def _names(self) -> Iterable[str]:
        raise NotImplementedError

    def items(self) -> list[tuple[str, Any]]:
        """Return the (name, value) pairs in the order of definition."""
        return [(name, self._handle.getattr(name)) for name in self._names()]

    def contains(self, name: str) -> bool:
        """Return True if the dictionary contains `name`."""
        return name in self._names()

    def getattr(self, name: str) -> Any:
        """Return the value of the attribute `name`."""
        return self._handle.getattr(name)

    def setattr(self, name: str, value: Any) -> None:
        """Assign to an existing attribute."""
        self._handle.setattr(name, value)


class ModuleDict(_AttributeDict):
    """Submodules of a module, by name."""

    def _names(self) -> Iterable[str]:
        return self._handle._module._modules


class ParameterDict(_AttributeDict):
    """Parameters of a module by name, without those of submodules."""

    def _names(self) -> Iterable[str]:
        return self._handle._module._parameters


class BufferDict(_AttributeDict):
    """Buffers of a module by name, without those of submodules."""

    def _names(self) -> Iterable[str]:
        return self._handle._module._buffers


def wrap_handle(value: Any) -> Any:
    """Return the scripted module for a handle, or `value` itself if it is no handle."""
    return value._module if isinstance(value, ModuleHandle) else value


def freeze_handle(
    module: ModuleHandle,
    preservedAttrs: Iterable[str] = (),
    freezeInterfaces: bool = True,
    preserveParameters: bool = False,
) -> ModuleHandle:
    """Freeze the module of a handle. Return the handle of the frozen module (see `ts.passes.freezing`)."""
    from ts.passes.freezing.freeze import freeze_module  # imported here, as few programs freeze modules

    frozen = freeze_module(wrap_handle(module), preservedAttrs, freezeInterfaces, preserveParameters)
    return ModuleHandle(frozen)


def rewrite_methods(pattern: str, replacement: str, handle: ModuleHandle) -> None:
    """Replace the occurrences of a graph pattern in all methods, as `ts.passes.subgraph_rewrite` does."""
    from ts.passes.pass_utils import run_on_methods  # imported here, as few programs rewrite graphs
    from ts.passes.subgraph_rewrite import rewrite

    run_on_methods(handle, lambda graph: rewrite(pattern, replacement, graph))
