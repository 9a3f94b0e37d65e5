"""Handles of scripted modules (`_c`), with the interface of PyTorch's `torch._C.ScriptModule`.

In: a scripted module.  Out: a handle of its attributes and methods, without those of `nn.Module`:

    handle = scripted._c
    handle.hasattr("weight"), handle.getattr("weight"), handle._get_method("forward").graph
    torch._C._jit_pass_remove_dropout(handle)       the pass on the graph of each method
    torch._C._freeze_module(handle, ["weight"])     a handle of the frozen module
    torch._C.ParameterDict(handle).items()          pairs of names and values
    torch.jit._recursive.wrap_cpp_module(handle)    the module
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ts.ir.types import ModuleType
from ts.nn.modules.module import Module
from ts.passes.freezing import freeze_module
from ts.runtime.script_method import ScriptMethod

if TYPE_CHECKING:
    from ts.runtime.module import ScriptModule


class ModuleHandle:
    """The attributes and methods of a scripted module, as `torch._C.ScriptModule` has them."""

    _module: ScriptModule

    def __init__(self, module: ScriptModule) -> None:
        object.__setattr__(self, "_module", module)

    def _type(self) -> ModuleType:
        """Return the type of the module in compiled code."""
        return self._module._concrete.type

    @property
    def qualified_name(self) -> str:
        """The qualified name of the module's type."""
        return self._type().qualified_name()

    def _method_names(self) -> list[str]:
        """Return the names of the compiled methods."""
        return list(self._type().methods)

    def _has_method(self, name: str) -> bool:
        """Return whether a compiled method has this name."""
        return name in self._type().methods

    def _get_method(self, name: str) -> ScriptMethod:
        """Return a compiled method by name; raise RuntimeError if it does not exist."""
        if not self._has_method(name):
            raise RuntimeError(f"Method '{name}' is not defined.")
        return ScriptMethod(self._module, self._type().methods[name])

    def hasattr(self, name: str) -> bool:
        """Return whether the module has an attribute of the name; methods are none."""
        return name in self._type().attributes

    def getattr(self, name: str) -> Any:
        """Return the value of an attribute, of a submodule its handle."""
        if not self.hasattr(name):
            raise AttributeError(f"{self.qualified_name} does not have a field with name '{name}'")
        value = getattr(self._module, name)
        return ModuleHandle(value) if isinstance(value, Module) else value  # type: ignore[arg-type]

    def setattr(self, name: str, value: Any) -> None:
        """Assign an attribute that the module has."""
        if not self.hasattr(name):
            raise RuntimeError(f"{self.qualified_name} does not have an attribute with name '{name}'")
        setattr(self._module, name, wrap_handle(value))

    def save(self, path: Any, _extra_files: Any = None) -> None:
        """Write the module's archive."""
        self._module.save(path, _extra_files)

    def save_to_buffer(self, _extra_files: Any = None) -> bytes:
        """Return the bytes of the module's archive."""
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
    """Some attributes of a module handle by name."""

    def __init__(self, handle: ModuleHandle) -> None:
        self._handle = handle

    def _names(self) -> Iterable[str]:
        raise NotImplementedError

    def items(self) -> list[tuple[str, Any]]:
        """Return the pairs of names and values, in order."""
        return [(name, self._handle.getattr(name)) for name in self._names()]

    def contains(self, name: str) -> bool:
        """Return whether the handle has an attribute with this name."""
        return name in self._names()

    def getattr(self, name: str) -> Any:
        """Return the value of an attribute."""
        return self._handle.getattr(name)

    def setattr(self, name: str, value: Any) -> None:
        """Assign an attribute that the module has."""
        self._handle.setattr(name, value)


class ModuleDict(_AttributeDict):
    """The submodules of a handle."""

    def _names(self) -> Iterable[str]:
        return self._handle._module._modules


class ParameterDict(_AttributeDict):
    """The parameters of a handle."""

    def _names(self) -> Iterable[str]:
        return self._handle._module._parameters


class BufferDict(_AttributeDict):
    """The buffers of a handle."""

    def _names(self) -> Iterable[str]:
        return self._handle._module._buffers


def wrap_handle(value: Any) -> Any:
    """Return the scripted module of a handle; other values as they are."""
    return value._module if isinstance(value, ModuleHandle) else value


def freeze_handle(
    module: ModuleHandle,
    preservedAttrs: Iterable[str] = (),
    freezeInterfaces: bool = True,
    preserveParameters: bool = False,
) -> ModuleHandle:
    """Return a handle of the frozen module; see `ts.passes.freezing`."""
    frozen = freeze_module(wrap_handle(module), preservedAttrs, freezeInterfaces, preserveParameters)
    return ModuleHandle(frozen)


def run_on_methods(handle: ModuleHandle, run: Callable[[Any], Any]) -> None:
    """Apply a graph pass to each compiled method of a module, in place."""
    methods = handle._type().methods
    for name, method in list(methods.items()):
        graph = method.graph.copy()
        run(graph)
        methods[name] = method.with_graph(graph, method.qualified_name, method.schema)


def remove_dropout(handle: ModuleHandle, run: Callable[[Any], Any]) -> None:
    """Remove the dropout of a module's methods; RuntimeError in training mode."""
    if getattr(handle._module, "training", False):
        raise RuntimeError("Dropout removal module in training mode is not yet supported")
    run_on_methods(handle, run)
