"""Interfaces (structural typing, static duck typing): classes that declare the signatures of methods.

Input: a class whose methods have annotations and the body `pass` (left). Output: an `InterfaceType` with the
schemas of the methods (right):

    @ts.jit.interface
    class Shape:
        def area(self, scale: int) -> float:       area(__torch__.Shape self, int scale) -> float
            pass

A class implements an interface if it has the methods of the interface. It need not inherit from it.
"""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

from ts.errors import CompilationError
from ts.frontend import parse
from ts.frontend.classes import ATTRIBUTE
from ts.frontend.defaults import NO_DEFAULT
from ts.frontend.naming import qualified_name, unique_name
from ts.frontend.parse import ParsedFunction
from ts.frontend.signatures import signature
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.types import InterfaceType


def interface_type(cls: type, is_module_interface: bool = False) -> InterfaceType:
    """Create the interface type of a class and store it as an attribute of the class."""
    type = InterfaceType(unique_name(qualified_name(cls)), None, is_module_interface, cls)
    setattr(cls, ATTRIBUTE, type)
    try:
        for name, member in vars(cls).items():
            if isinstance(member, FunctionType):
                type.methods[name] = _schema(type, cls, name, member)
    except BaseException:
        delattr(cls, ATTRIBUTE)
        raise
    return type


def _schema(type: InterfaceType, cls: type, name: str, function: FunctionType) -> FunctionSchema:
    parsed = parse.function_def(function, name)
    parsed.self_type = type
    parsed.resolver.fallback[cls.__name__] = cls
    parameters, returns = signature(parsed)
    if returns is None:
        raise CompilationError(
            "interface declarations must have a return type annotated.", parsed.range(parsed.node)
        )
    _check_body(parsed)
    arguments = [
        Argument(p.name, p.type)
        if p.default is NO_DEFAULT
        else Argument(p.name, p.type, default=p.default, has_default=True)
        for p in parameters
    ]
    return FunctionSchema(name, "", tuple(arguments), (Argument("", returns),))


def _check_body(parsed: ParsedFunction) -> None:
    """Raise CompilationError for an interface method whose body is neither `pass` nor a docstring."""
    body = parsed.node.body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    is_docstring = is_text and isinstance(body[0].value.value, str) and len(body) == 1  # type: ignore[attr-defined]
    if not is_docstring and not any(isinstance(statement, ast.Pass) for statement in body):
        raise CompilationError(
            "interfaces declarations should contain 'pass' statement.", parsed.range(body[0])
        )


def interface(cls: type) -> type:
    """Declare an interface, as decorator `@ts.jit.interface`, and return the unchanged class."""
    if not inspect.isclass(cls):
        raise RuntimeError("interface must be applied to a class")
    is_module_interface = any(base.__name__ == "Module" for base in cls.__mro__[1:])
    if len(cls.mro()) > (3 if is_module_interface else 2):
        raise RuntimeError(
            "TorchScript interface does not support inheritance yet. "
            "Please directly inherit from 'object' or 'nn.Module'."
        )
    interface_type(cls, is_module_interface)
    return cls
