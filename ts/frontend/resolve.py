"""Name resolution: the Python objects that the free names in scripted functions are bound to.

A resolver searches the closure of a function, then its globals, then the builtins. It replaces objects of
`torch` by those of `ts`. Each line shows an import in a program, a call, and its result:

    import torch                    lookup("torch")         the module `ts`
    from torch import relu          lookup("relu")          `ts.relu`
    import math                     lookup("math")          the module `math`

Source with `torch.relu` also compiles without PyTorch.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping
from types import FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING

from ts._core import late_binding
from ts.module_names import is_installed

if TYPE_CHECKING:
    from ts.ir.graph import Graph

_OWN_NAMES = ("torch", "ts")


class Resolver:
    """Resolver of names in a list of scopes, innermost first, then in the builtins."""

    def __init__(self, *scopes: Mapping[str, object], fallback: Mapping[str, object] | None = None) -> None:
        self.scopes = scopes
        self.fallback: dict[str, object] = dict(fallback or {})

    @classmethod
    def of_function(cls, function: FunctionType) -> Resolver:
        """Return a resolver for the names in a live function.

        It also finds the function by its own name, even if a decorator runs before Python assigns the name.
        """
        return cls(closure_of(function), function.__globals__, fallback={function.__name__: function})

    @classmethod
    def of_frame(cls, depth: int = 0) -> Resolver:
        """Return a resolver for names in the stack frame of a caller.

        With `depth` 0, this is the direct caller, with `depth` 1 the caller of that function, and so on.
        """
        frame: FrameType = sys._getframe(depth + 1)
        return cls(frame.f_locals, frame.f_globals)

    def lookup(self, name: str) -> object:
        """Return the object bound to a name. Raise KeyError for an undefined name."""
        for scope in self.scopes:
            if name in scope:
                return to_ts(scope[name])
        if name in _OWN_NAMES:
            return _ts()
        if name in self.fallback:
            return self.fallback[name]
        return vars(builtins)[name]

    def admit(self, graph: Graph) -> None:
        """Allow all operators of `graph`. Subclasses raise an error for operators that they forbid."""

    def evaluate(self, node: ast.expr) -> object:
        """Evaluate an expression from an annotation, or from a default value in source text.

        The expression consists of dotted names, constants, tuples, lists, subscripts, unions `|` and minus
        signs. Other expressions raise KeyError. Undefined names raise KeyError or AttributeError.
        """
        match node:
            case ast.Name(id=name):
                return self.lookup(name)
            case ast.Attribute(value=base, attr=attr):
                return attribute(self.evaluate(base), attr)
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=elements):
                return tuple(self.evaluate(element) for element in elements)
            case ast.List(elts=elements):
                return [self.evaluate(element) for element in elements]
            case ast.Subscript(value=base, slice=index):
                return self.evaluate(base)[self.evaluate(index)]  # type: ignore[index]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.evaluate(left) | self.evaluate(right)  # type: ignore[operator]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.evaluate(operand)  # type: ignore[operator]
        raise KeyError(ast.unparse(node))


def attribute(base: object, name: str) -> object:
    """Return the equivalent in `ts` of `base.name`. Raise AttributeError if it does not exist."""
    return to_ts(getattr(base, name))


def to_ts(value: object) -> object:
    """Return the object of `ts` that is equivalent to `value`, an object of PyTorch.

    Return any other `value` unchanged. The function does not import PyTorch: it recognizes PyTorch's objects
    by the names of their modules.
    """
    if isinstance(value, ModuleType):
        return _namesake(value.__name__, "") if _is_torch(value.__name__) else value
    if "torch" not in sys.modules:
        return value
    module = getattr(value, "__module__", None)
    if isinstance(module, str) and _is_torch(module):
        return _namesake(module, getattr(value, "__name__", ""), value)
    if _is_torch(type(value).__module__):
        return _namesake_of_instance(value)
    if type(value).__name__ == "builtin_function_or_method":  # C functions such as torch.relu have no module
        name = getattr(value, "__name__", "")
        torch = sys.modules["torch"]
        if getattr(torch, name, None) is value:
            return getattr(_ts(), name, value)
    return value


def _namesake(module: str, name: str, default: object = None) -> object:
    target: object = _ts()
    for attribute_name in [*module.split(".")[1:], *filter(None, [name])]:
        attribute = getattr(target, attribute_name, None)
        if attribute is None:
            # Functions such as torch.functional.einsum and torch._C._nn.gelu are looked up in `ts` by their
            # last name.
            return getattr(_ts(), name, default) if name else _Missing(module)
        target = attribute
    return target


def _namesake_of_instance(value: object) -> object:
    rendered = str(value)
    match type(value).__name__:
        case "dtype" | "layout" | "memory_format":
            return getattr(_ts(), rendered.removeprefix("torch."), value)
        case "device":
            return getattr(_ts(), "device")(rendered)  # noqa: B009
    return value


class _Missing(ModuleType):
    """PyTorch module without equivalent in `ts`. Access to a member of the module raises an error."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"module '{self.__name__}' is not part of ts, and has no attribute '{name}'")


def _is_torch(module: str) -> bool:
    return (module == "torch" or module.startswith("torch.")) and not is_installed()


def _ts() -> ModuleType:
    package: ModuleType = late_binding.resolve("package")
    return package


def closure_of(function: FunctionType) -> dict[str, object]:
    """Return the values of a function's free variables (closure variables), except unassigned ones."""
    free_variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            free_variables[name] = cell.cell_contents
        except ValueError:
            continue
    return free_variables
