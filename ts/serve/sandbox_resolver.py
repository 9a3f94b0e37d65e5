"""What the names in a stranger's text mean: the scripted language, and nothing else of Python.

In: the functions and classes of the text itself.  Out: a `Resolver` that knows them, `torch` and `ts` by
what scripts may use of them, `math`, `typing`, and exceptions.

    names = StrangersNames({}, {})
    names.lookup("torch").relu               the function
    names.lookup("torch").hub                AttributeError: there is a way from it to `os`
    names.lookup("open")                     KeyError

An ordinary `Resolver` sees the whole process: `torch.hub.os.environ["HOME"]` would be a default like any
other.
"""

from __future__ import annotations

import ast
import builtins
import math
import typing
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, Final

import ts
from ts.dtypes import dtype, layout, memory_format
from ts.errors import CompilationError
from ts.frontend.resolve import Resolver
from ts.ir.graph import Graph
from ts.module_names import own_name

# Modules that scripts may name, with what of them, where that is not every function and constant.
_MODULES: Final[dict[str, frozenset[str]]] = {
    "ts": frozenset(),
    "ts.nn": frozenset(),
    "ts.nn.functional": frozenset(),
    "ts.linalg": frozenset(),
    "ts.fft": frozenset(),
    "ts.special": frozenset(),
    "ts.functional": frozenset(),
    "ts.jit": frozenset(
        {"fork", "_fork", "wait", "_wait", "annotate", "isinstance", "is_scripting", "is_tracing", "Future"}
    ),
}  # fmt: skip
# Where functions stand that are operators, or are written in the scripted language.
_HOMES: Final = (
    "ts.ops.functional", "ts.functional", "ts.nn.functional", "ts.linalg", "ts.fft", "ts.special",
    "ts.autograd.grad_mode", "ts.frontend.markers",
)  # fmt: skip
_CLASSES: Final = frozenset({"Tensor", "Generator", "device", "Size", "no_grad", "enable_grad"})
_CONSTANTS: Final = (bool, int, float, str, dtype, layout, memory_format)
_TYPES: Final = (bool, int, float, complex, str, list, dict, tuple, object)
_TYPING: Final = ("Any", "Dict", "Final", "List", "NamedTuple", "Optional", "Tuple", "Union")
_STANDARD: Final[dict[str, frozenset[str]]] = {
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
    "typing": frozenset(_TYPING),
}
_OWN: Final = frozenset({"__name__", "__class__", "__dir__"})  # attributes that doors have
_PYTHON: Final = frozenset({"prim::PythonOp"})  # nodes that call Python


class Door(ModuleType):
    """A module as strangers see it: what the scripted language has of it.

    It holds nothing, and shows nothing of its own but its name: there is no way through it.
    """

    def __getattribute__(self, name: str) -> Any:
        if name in _OWN:
            return super().__getattribute__(name)
        home = super().__getattribute__("__name__")
        found = None if name.startswith("__") else _found(home, name)
        if found is None:
            raise AttributeError(f"module '{home}' has no '{name}' that scripts can use")
        return found

    def __dir__(self) -> Iterable[str]:
        """For suggestions."""
        names = _MODULES.get(self.__name__) or dir(import_module(self.__name__))
        return [name for name in names if not name.startswith("_")]


def _found(home: str, name: str) -> Any:
    """What a module has under a name, as far as scripts may know; None if nothing."""
    qualified = f"{home}.{name}"
    if qualified in _MODULES or qualified == "ts.ops":
        return Door(qualified)
    if home == "ts.ops":
        return ts.ops.aten if name == "aten" else None
    named = _STANDARD.get(home) or _MODULES[home]
    if (named or name.startswith("_")) and name not in named:
        return None
    value = getattr(import_module(home), name, None)
    return value if home in _STANDARD or _is_of_scripts(value, name) else None


def _is_of_scripts(value: Any, name: str) -> bool:
    if isinstance(value, _CONSTANTS):
        return True
    home = getattr(value, "__module__", None) or ""
    if isinstance(value, type):
        return name in _CLASSES or home == "ts.autograd.grad_mode" or name in ("Future", "Final")
    if isinstance(value, FunctionType):
        return home.startswith(_HOMES)
    if type(value).__module__ == "typing":
        return True
    return own_name(type(value).__module__).startswith(("ts._core.dispatch", "ts.ops"))  # operator functions


def _standard_names() -> dict[str, Any]:
    known: dict[str, Any] = {"torch": Door("ts"), "ts": Door("ts")}
    known.update((name, Door(name)) for name in _STANDARD)
    known.update((name, getattr(typing, name)) for name in _TYPING)
    known.update((kind.__name__, kind) for kind in _TYPES)
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, Exception):
            known[name] = value
    return known


class StrangersNames(Resolver):
    """Names of a text that anybody may have written."""

    def __init__(self, *scopes: Mapping[str, object]) -> None:
        super().__init__(*scopes, _standard_names())

    def lookup(self, name: str) -> object:
        """The object behind a name; raises KeyError for a name that is not there."""
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        raise KeyError(name)

    def evaluate(self, node: ast.expr) -> object:
        """As for others; but of objects only those of modules and enumerations are read."""
        if isinstance(node, ast.Attribute):
            base = self.evaluate(node.value)
            if not isinstance(base, Door) or node.attr.startswith("__"):
                raise KeyError(ast.unparse(node))
            return getattr(base, node.attr)
        return super().evaluate(node)

    def admit(self, graph: Graph) -> None:
        """Refuse whatever would call Python."""
        for kind in _PYTHON:
            for node in graph.find_all_nodes(kind):
                raise CompilationError("what runs in Python is not for programs of strangers", node.range)


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, object]:
    """What an import in the text gives: names that are known anyway; KeyError, AttributeError for others."""
    known = StrangersNames()
    found: dict[str, object] = {}
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            found[alias.asname or alias.name] = getattr(_module(known, node.module or ""), alias.name)
        elif alias.asname:
            found[alias.asname] = _module(known, alias.name)
        else:
            _module(known, alias.name)
            root = alias.name.partition(".")[0]
            found[root] = known.lookup(root)
    return found


def _module(known: StrangersNames, name: str) -> object:
    root, *parts = name.split(".")
    found = known.lookup(root)
    if not isinstance(found, Door):
        raise KeyError(name)
    for part in parts:
        found = getattr(found, part)
    return found
