"""Resolver of names in untrusted source: an allowlist of the scripted language, without access to Python.

A `SandboxResolver` resolves the source's own functions and classes, and the scriptable parts of `torch` and
`ts`. It also resolves names of `math` and `typing`, and exception types. Other names raise an error:

    resolver = SandboxResolver({}, {})
    resolver.lookup("torch").relu            the function
    resolver.lookup("torch").hub             AttributeError, because `hub` gives access to `os`
    resolver.lookup("open")                  KeyError

The ordinary `Resolver` has access to the whole process. With it, a default value could read
`torch.hub.os.environ["HOME"]`.
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
from ts.frontend.load_policy import FILE_WRITERS
from ts.frontend.resolve import Resolver
from ts.ir.graph import Graph
from ts.module_names import own_name

# Modules that scripts may name, with the allowed attributes. An empty set allows all scriptable attributes.
_SCRIPT_MODULES: Final[dict[str, frozenset[str]]] = {
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
# Modules whose Python functions are operators or are written in the scripted language.
_SCRIPT_FUNCTION_MODULES: Final = (
    "ts.ops.functional", "ts.functional", "ts.nn.functional", "ts.linalg", "ts.fft", "ts.special",
    "ts.autograd.grad_mode", "ts.frontend.compile_directives",
)  # fmt: skip
_CLASS_NAMES: Final = frozenset({"Tensor", "Generator", "device", "Size", "no_grad", "enable_grad"})
_CONSTANT_TYPES: Final = (bool, int, float, str, dtype, layout, memory_format)
_BUILTIN_TYPES: Final = (bool, int, float, complex, str, list, dict, tuple, object)
_TYPING_NAMES: Final = ("Any", "Dict", "Final", "List", "NamedTuple", "Optional", "Tuple", "Union")
_STANDARD_MODULES: Final[dict[str, frozenset[str]]] = {
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
    "typing": frozenset(_TYPING_NAMES),
}
# Attributes of the proxy (`RestrictedModule`) itself. Other names are looked up in the represented module.
_VISIBLE_ATTRIBUTES: Final = frozenset({"__name__", "__class__", "__dir__"})
_PYTHON_NODE_KINDS: Final = frozenset({"prim::PythonOp"})


class RestrictedModule(ModuleType):
    """Proxy of a module that exposes only attributes of the scripted language.

    Untrusted source cannot reach the module through the proxy, which stores only the name of the module.
    """

    def __getattribute__(self, name: str) -> Any:
        if name in _VISIBLE_ATTRIBUTES:
            return super().__getattribute__(name)
        module_name = super().__getattribute__("__name__")
        value = None if name.startswith("__") else _find_attribute(module_name, name)
        if value is None:
            raise AttributeError(f"module '{module_name}' has no '{name}' that scripts can use")
        return value

    def __dir__(self) -> Iterable[str]:
        """Return candidate names for suggestions in error messages."""
        names = _SCRIPT_MODULES.get(self.__name__) or dir(import_module(self.__name__))
        return [name for name in names if not name.startswith("_")]


def _find_attribute(module_name: str, name: str) -> Any:
    """Return an attribute of a module if scripts may use it, otherwise None."""
    qualified = f"{module_name}.{name}"
    if qualified in _SCRIPT_MODULES or qualified == "ts.ops":
        return RestrictedModule(qualified)
    if module_name == "ts.ops":
        return ts.ops.aten if name == "aten" else None
    allowed = _STANDARD_MODULES.get(module_name) or _SCRIPT_MODULES[module_name]
    if (allowed or name.startswith("_")) and name not in allowed:
        return None
    value = getattr(import_module(module_name), name, None)
    return value if module_name in _STANDARD_MODULES or _is_scriptable(value, name) else None


def _is_scriptable(value: Any, name: str) -> bool:
    if isinstance(value, _CONSTANT_TYPES):
        return True
    module_name = getattr(value, "__module__", None) or ""
    if isinstance(value, type):
        return name in _CLASS_NAMES or module_name == "ts.autograd.grad_mode" or name in ("Future", "Final")
    if isinstance(value, FunctionType):
        return module_name.startswith(_SCRIPT_FUNCTION_MODULES)
    if type(value).__module__ == "typing":
        return True
    # Operator functions have types that these packages define.
    return own_name(type(value).__module__).startswith(("ts._core.dispatch", "ts.ops"))


def _predefined_names() -> dict[str, Any]:
    predefined: dict[str, Any] = {"torch": RestrictedModule("ts"), "ts": RestrictedModule("ts")}
    predefined.update((name, RestrictedModule(name)) for name in _STANDARD_MODULES)
    predefined.update((name, getattr(typing, name)) for name in _TYPING_NAMES)
    predefined.update((kind.__name__, kind) for kind in _BUILTIN_TYPES)
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, Exception):
            predefined[name] = value
    return predefined


class SandboxResolver(Resolver):
    """Resolver that restricts untrusted source to the scripted language."""

    def __init__(self, *scopes: Mapping[str, object]) -> None:
        super().__init__(*scopes, _predefined_names())

    def lookup(self, name: str) -> object:
        """Return the object of a name. Raise KeyError if no scope defines it."""
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        raise KeyError(name)

    def evaluate(self, node: ast.expr) -> object:
        """Return the value of an expression, which may read attributes only of restricted modules.

        Raises KeyError for attributes of any other object.
        """
        if isinstance(node, ast.Attribute):
            base = self.evaluate(node.value)
            if not isinstance(base, RestrictedModule) or node.attr.startswith("__"):
                raise KeyError(ast.unparse(node))
            return getattr(base, node.attr)
        return super().evaluate(node)

    def admit(self, graph: Graph) -> None:
        """Raise CompilationError if a graph contains a node that calls Python or writes files."""
        for kind in _PYTHON_NODE_KINDS:
            for node in graph.find_all_nodes(kind):
                raise CompilationError("untrusted programs cannot call Python", node.range)
        for kind in FILE_WRITERS:
            for node in graph.find_all_nodes(kind):
                raise CompilationError(
                    f"untrusted programs cannot call {kind}, which writes files", node.range
                )


def resolve_import(node: ast.Import | ast.ImportFrom) -> dict[str, object]:
    """Return the names that an import statement defines, with their objects.

    Raises KeyError or AttributeError if a module or name is not part of the scripted language.
    """
    resolver = SandboxResolver()
    names: dict[str, object] = {}
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module = _find_module(resolver, node.module or "")
            names[alias.asname or alias.name] = getattr(module, alias.name)
        elif alias.asname:
            names[alias.asname] = _find_module(resolver, alias.name)
        else:
            _find_module(resolver, alias.name)
            root = alias.name.partition(".")[0]
            names[root] = resolver.lookup(root)
    return names


def _find_module(resolver: SandboxResolver, name: str) -> object:
    root, *submodules = name.split(".")
    module = resolver.lookup(root)
    if not isinstance(module, RestrictedModule):
        raise KeyError(name)
    for submodule in submodules:
        module = getattr(module, submodule)
    return module
