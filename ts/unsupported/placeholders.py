"""Placeholders for PyTorch classes, functions and modules that `ts` does not implement.

The right column describes the effect of each line:

    class Exporter(ts.onnx.ONNXProgram): ...      defines a class
    isinstance(x, ts.onnx.ONNXProgram)            False
    ts.onnx.ONNXProgram()                         raises NotImplementedError
    except ts.onnx.errors.OnnxExporterError:      catches an error class that no function raises

An object has one placeholder, even if it is accessed by several paths.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import logging
import sys
from abc import ABCMeta
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar

from ts.errors import missing_attribute
from ts.module_names import own_name
from ts.unsupported import api
from ts.unsupported.reasons import missing_message
from ts.unsupported.unsupported_names import ANSWERS, ELSEWHERE, MARKERS

_MARKERS = frozenset(MARKERS.split())


class Placeholder(ABCMeta):
    """Metaclass of placeholders for classes and values."""

    __path: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Raise NotImplementedError with a message that names an alternative to the missing class."""
        raise NotImplementedError(missing_message(cls.__path))

    def __getattr__(cls, name: str) -> Any:
        if name.startswith(("__", "_abc_")):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return placeholder(f"{cls.__path}.{name}")

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        raise NotImplementedError(missing_message(cls.__path))

    def __repr__(cls) -> str:
        return f"<placeholder of torch.{cls.__path}>"


def is_placeholder(value: Any) -> bool:
    """Return True if an object is a placeholder."""
    return isinstance(value, Placeholder) or getattr(value, "__absent__", False) is True


@cache
def placeholder(path: str, kind: str = "value", base: str = "") -> Any:
    """Return the placeholder for a PyTorch object, by path, such as `onnx.export`."""
    module, name = api.split(path)
    doc, module_name = missing_message(path), f"torch.{module}".rstrip(".")
    if kind == "error":
        bases = (getattr(importlib.import_module("builtins"), base or "Exception"),)
        return type(name, bases, {"__module__": module_name, "__doc__": doc, "__absent__": True})
    if kind == "function":
        return _function_placeholder(path, name, module_name)
    return Placeholder(name, (), {"_Placeholder__path": path, "__module__": module_name, "__doc__": doc})


def _function_placeholder(path: str, name: str, module_name: str) -> Callable[..., Any]:
    def raise_unsupported(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(missing_message(path))

    raise_unsupported.__name__ = raise_unsupported.__qualname__ = name
    raise_unsupported.__module__, raise_unsupported.__doc__ = module_name, missing_message(path)
    vars(raise_unsupported).update(__absent__=True, __unsupported_message__=missing_message(path))
    return raise_unsupported


def attribute(module: str, name: str) -> Any:
    """Resolve a name that a module of `ts` lacks. Raise AttributeError if PyTorch lacks it, too."""
    module = own_name(module)
    path = module.removeprefix("ts").removeprefix(".")
    entry = api.entries(path).get(name)
    full = f"{path}.{name}" if path else name
    if name == "__all__" and api.is_module(path):
        return _public_names(path)
    if full in ELSEWHERE:
        module_name, _, attribute_name = ELSEWHERE[full].rpartition(".")
        return getattr(importlib.import_module(module_name), attribute_name)
    if entry is None:
        if api.is_module(full):
            return importlib.import_module(f"ts.{full}")
        displayed_name = sys.modules[module].__name__
        raise missing_attribute(f"module {displayed_name!r}", name, lambda: dir(sys.modules[module]))
    return _resolve(full, entry)


def _resolve(path: str, entry: api.Entry) -> Any:
    if entry.kind == "module":
        return importlib.import_module(f"ts.{path}")
    if entry.kind == "alias":
        module_name, name = api.split(entry.detail)
        other = api.entries(module_name).get(name)  # functions precede modules of the same name
        if api.is_module(entry.detail) and (other is None or other.kind == "module"):
            return importlib.import_module(f"ts.{entry.detail}".rstrip("."))
        return getattr(importlib.import_module(f"ts.{module_name}".rstrip(".")), name)
    if entry.kind == "external":
        return _external(entry.detail)
    if path in ANSWERS:
        return _constant_function(path)
    if path in _MARKERS:
        return _identity_decorator
    if entry.kind == "literal":
        return ast.literal_eval(entry.detail)
    if entry.kind == "logger":
        return logging.getLogger(entry.detail)
    if entry.kind == "typevar":
        return _type_variable(path)
    return placeholder(path, entry.kind, entry.detail)


def _external(path: str) -> Any:
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, name = api.split(path)
        return getattr(importlib.import_module(module), name)


@cache
def _type_variable(path: str) -> Any:
    return TypeVar(api.split(path)[1])  # type: ignore[misc]


@cache
def _constant_function(path: str) -> Callable[..., Any]:
    def answer(*args: Any, **kwargs: Any) -> Any:
        return ANSWERS[path]

    answer.__name__ = answer.__qualname__ = api.split(path)[1]
    return answer


def _identity_decorator(*arguments: Any, **options: Any) -> Any:
    """Return the decorated function unchanged.

    If called with options, return a decorator that returns the function unchanged.
    """
    if len(arguments) == 1 and callable(arguments[0]) and not options:
        return arguments[0]
    return lambda function=None: function


def _public_names(path: str) -> list[str]:
    """Return the public names that a PyTorch module defines or imports from its submodules."""
    prefix, imported = f"{path}.", ("alias", "external", "typevar")
    return sorted(
        name
        for name, (kind, detail) in api.entries(path).items()
        if not name.startswith("_") and (kind not in imported or detail.startswith(prefix))
    )


class _Package(ModuleType):
    """Package whose functions stay accessible after the import of submodules with the same names.

    `torch.nn.utils.weight_norm` is a function, but `from torch.nn.utils.weight_norm import WeightNorm` works,
    too.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            entry = api.entries(vars(self)["__spec__"].name.removeprefix("ts.")).get(name)
            if entry is not None and entry.kind != "module":
                return
        super().__setattr__(name, value)


class _Module(_Package):
    """Module of PyTorch for which `ts` has no file."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = attribute(vars(self)["__spec__"].name, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> Sequence[str]:
        return sorted({*super().__dir__(), *api.entries(vars(self)["__spec__"].name.removeprefix("ts."))})


class _Loader(importlib.abc.Loader):
    spec: ModuleSpec | None = None  # for an alias: the spec of the module that it means

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        path = spec.name.removeprefix("ts.")
        canonical = api.canonical_path(path)
        if canonical != path:
            module = importlib.import_module(f"ts.{canonical}")
            self.spec = module.__spec__
            return module
        module_name, name = api.split(path)
        operators = sys.modules["ts._C"].operator_module(name) if module_name == "_C" else None
        if operators is not None:
            return operators  # type: ignore[no-any-return]
        return _Module(spec.name, f"torch.{path}: objects of other modules of `ts`, and placeholders.")

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty, because names are resolved on access."""
        # Restore the spec of the module, because the import under an alias has replaced it.
        if self.spec is not None:
            module.__spec__ = self.spec


def spec_of(module: str) -> ModuleSpec | None:
    """Return the import spec of a PyTorch module that has no file in `ts`.

    Return None if there is no such module.
    """
    path = module.removeprefix("ts.")
    if not api.is_module(path):
        return None
    parent, name = api.split(path)
    entry, package = api.entries(parent).get(name), sys.modules.get(f"ts.{parent}")
    if entry is not None and entry.kind != "module" and type(package) is ModuleType:
        package.__class__ = _Package
    return ModuleSpec(module, _Loader(), is_package=True)
