"""Placeholders: what stands for a class, function or constant of PyTorch that `ts` has not.

class Exporter(ts.onnx.ONNXProgram): ...      may be inherited from, an annotation, in a test
ts.onnx.ONNXProgram()                         NotImplementedError
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ts.absent import aliases
from ts.absent.aliases import ALIASES
from ts.absent.areas import area_of
from ts.absent.names import ANSWERS, MARKERS, NAMES, PRIVATE
from ts.errors import missing_attribute

_MARKERS = frozenset(MARKERS.split())
_PRIVATE = frozenset(PRIVATE.split())
_ERRORS = ("Error", "Exception", "Warning")


class Placeholder(type):
    """The class of placeholders: each is a class, which may stand wherever programs name PyTorch's object."""

    __path: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(refusal(cls.__path))

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}")
        return placeholder(f"{cls.__path}.{name}")

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        raise NotImplementedError(refusal(cls.__path))

    def __repr__(cls) -> str:
        return f"<placeholder of torch.{cls.__path}>"


def refusal(path: str) -> str:
    """What a placeholder says when it is used."""
    area = area_of(path)
    return f"torch.{path} is not there: ts has no {area.missing}. {area.instead}"


def placeholder(path: str) -> Any:
    """What stands for an object of PyTorch, by its path: `onnx.export`."""
    name = path.rpartition(".")[2]
    if name.endswith(_ERRORS):  # nothing raises it, but somebody may wait for it
        return type(name, (Exception,), {"__module__": "ts.absent", "__doc__": refusal(path)})
    fields = {"_Placeholder__path": path, "__module__": "ts.absent", "__doc__": refusal(path)}
    return Placeholder(name, (), fields)


def attribute(module: str, name: str) -> Any:
    """A name that a module has not: its placeholder where PyTorch has it, else AttributeError."""
    path = module.removeprefix("ts").removeprefix(".")
    full = f"{path}.{name}" if path else name
    if full in MODULES or full in ALIASES:
        return importlib.import_module(f"ts.{full}")
    if full in ANSWERS:
        answer = ANSWERS[full]
        return lambda *args, **kwargs: answer
    if full in _MARKERS:
        return _given_back
    if name in NAMES.get(path, "").split() or (not name.startswith("__") and _is_private(path)):
        return placeholder(full)
    raise missing_attribute(f"module {module!r}", name, lambda: dir(sys.modules[module]))


def _given_back(*arguments: Any, **options: Any) -> Any:
    """A function that is marked, or a decorator that gives back what it marks."""
    if len(arguments) == 1 and callable(arguments[0]) and not options:
        return arguments[0]
    return lambda marked=None: marked


def _is_private(path: str) -> bool:
    return any(path == p or path.startswith(f"{p}.") for p in _PRIVATE)


class _Module(ModuleType):
    """A module that is absent."""

    def __getattr__(self, name: str) -> Any:
        private = name.startswith("_") and not name.startswith("__")
        path = f"{self.__name__}.{name}".removeprefix("ts.")
        value = placeholder(path) if private else attribute(self.__name__, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> Sequence[str]:
        return sorted({*super().__dir__(), *NAMES.get(self.__name__.removeprefix("ts."), "").split()})


class _Loader(importlib.abc.Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        area = area_of(spec.name.removeprefix("ts."))
        return _Module(spec.name, f"Not there: ts has no {area.missing}. {area.instead}")

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing in it yet."""


MODULES = frozenset(NAMES) | _PRIVATE


def spec_of(module: str) -> ModuleSpec | None:
    """How to import a module that is absent or an alias; None where there is none such."""
    path = module.removeprefix("ts.")
    if path in ALIASES:
        return aliases.spec_of(path)
    if path not in MODULES and not (_is_private(path) and not path.rpartition(".")[2][:1].isupper()):
        return None
    return ModuleSpec(module, _Loader(), is_package=True)
