"""Function overloading by `ts.jit.overload`, which is `torch.jit._overload` in PyTorch.

The compiler compiles the implementation once for each declaration, with its types and defaults:

    @ts.jit.overload
    def twice(x: int) -> int: ...

    @ts.jit.overload
    def twice(x: str) -> str: ...

    def twice(x):                     # the implementation
        return x + x

For methods, the decorator is `overload_method`.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ts.errors import CompilationError, FrontendError
from ts.frontend.weak_side_table import WeakSideTable
from ts.ir.object_attributes import module_of
from ts.module_names import own_name

if TYPE_CHECKING:
    from ts.frontend.parse import ParsedFunction

# The parser is imported in functions, because modules with overloads are also used without compilation.

F = TypeVar("F", bound=Callable[..., Any])

_EXAMPLE = """
Example of an overloaded function:

@torch.jit._overload
def twice(x: int) -> int:
    pass

@torch.jit._overload
def twice(x: str) -> str:
    pass

def twice(x):   # the implementation comes last, and has no annotations
    return x + x
"""

_declared: dict[str, list[Callable[..., Any]]] = {}
_compiled: WeakSideTable[list[Any]] = WeakSideTable("overloads")
_methods: dict[str, dict[str, list[Callable[..., Any]]]] = {}


def overload(function: F) -> F:
    """Declare one signature of a function. The implementation, with the same name, is defined later."""
    _check_body(function)
    return declare_overload(function)


def declare_overload(function: F) -> F:
    """Declare one signature of a function of `ts`, like `overload`, but without parsing it."""
    _declared.setdefault(_key(function), []).append(function)
    return function


def overload_method(function: F) -> F:
    """Declare one signature of a method. The implementation is defined later in the class."""
    _check_body(function)
    return declare_overload_method(function)


def declare_overload_method(function: F) -> F:
    """Declare one signature of a method of `ts`, like `overload_method`, but without parsing it."""
    owner, _, name = function.__qualname__.rpartition(".")
    _methods.setdefault(f"{own_name(module_of(function))}.{owner}", {}).setdefault(name, []).append(function)
    return function


def overloads_of_method(cls: type, name: str) -> list[Callable[..., Any]]:
    """Return overload declarations of method `name`, from the first class in the MRO that defines the method.

    If this class defines the method without overloads, return an empty list.
    """
    for base in cls.__mro__:
        declarations = _methods.get(f"{own_name(module_of(base))}.{base.__qualname__}", {}).get(name)
        if declarations:
            implementation = base.__dict__.get(name)
            if implementation in declarations:
                raise CompilationError(_no_implementation("method", declarations[-1]))
            return declarations
        if name in base.__dict__:
            return []
    return []


def has_overloads(function: Callable[..., Any]) -> bool:
    """Return whether the function was declared with `overload`."""
    return _compiled.get(function) is not None or bool(_declared.get(_key(function)))


def compiled_overloads(function: Callable[..., Any], compile_overload: Callable[..., Any]) -> list[Any]:
    """Return the compiled functions of all `overload` declarations in order, possibly none.

    `compile_overload(implementation, declaration)` compiles the implementation for one declaration.
    """
    compiled = _compiled.get(function) or []
    declarations = _declared.get(_key(function))
    if not declarations:
        return compiled
    if function in declarations:
        raise CompilationError(_no_implementation("function", function))
    compiled = [*compiled, *(compile_overload(function, declaration) for declaration in declarations)]
    _compiled[function] = compiled
    del _declared[_key(function)]
    return compiled


def parse_overload(
    implementation: Callable[..., Any], declaration: Callable[..., Any], self_type: Any = None
) -> ParsedFunction:
    """Parse an implementation, and replace its signature by that of an overload declaration.

    `self_type` is the type of `self` if the implementation is a method.

    The declaration may omit trailing parameters that have a default and a type in the implementation. A
    default of the implementation is used if it has the type in the declaration.
    """
    from ts.frontend import parse
    from ts.frontend.signatures import overload_signature

    declared = parse.function_def(declaration, signature_only=True)
    parsed = parse.function_def(implementation)
    declared.self_type = parsed.self_type = self_type
    range = declared.ranges.token(declared.node, len("def"))
    for name, value in declared.defaults.items():
        if name not in parsed.defaults or parsed.defaults[name] != value:
            raise FrontendError(
                "Default parameters on overloads do not affect the runtime so they must equal to the default "
                f"parameter on the implementation function. Found on parameter {name}",
                range,
            )
    declared_arguments, implemented_arguments = declared.arguments, parsed.arguments
    if len(declared_arguments) > len(implemented_arguments):
        raise FrontendError(
            "Overload should not have more parameters than implementation function: "
            f"{len(declared_arguments)} and {len(implemented_arguments)}",
            range,
        )
    for position, (arg, implemented) in enumerate(
        zip(declared_arguments, implemented_arguments, strict=False)
    ):
        if arg.arg != implemented.arg:
            raise FrontendError(
                f"Overload parameters must have the same names. Found {arg.arg} and {implemented.arg} "
                f"on argument {position}",
                range,
            )
    for implemented in implemented_arguments[len(declared_arguments) :]:
        if implemented.arg not in parsed.defaults:
            raise FrontendError(
                f"Expected to find default parameter on argument {implemented.arg} because it is not defined "
                "on the overloaded declaration",
                parsed.range(implemented),
            )
        if implemented.annotation is None and parsed.type_comment is None:
            raise FrontendError(
                "Parameters not specified on the overloaded declaration must have a type annotation in the "
                f"implementation function. Did not find type for param {implemented.arg}",
                parsed.range(implemented),
            )
    parsed.signature = overload_signature(declared, parsed)
    return parsed


def _key(function: Callable[..., Any]) -> str:
    module: Any = getattr(function, "__module__", None)  # None for some builtin functions
    return f"{own_name(module)}.{getattr(function, '__qualname__', '')}"


def _check_body(function: Callable[..., Any]) -> None:
    from ts.frontend import parse

    try:
        parsed = parse.function_def(function, signature_only=True)
    except OSError:
        message = f"Unable to retrieve source for @torch.jit._overload function: {function}."
        warnings.warn(message, stacklevel=3)
        return
    match parsed.node.body:
        case [ast.Pass()]:
            return
        case [ast.Expr(value=ast.Constant(value=content))] if content is ...:
            return
    raise RuntimeError(
        "Only `pass` statement or `...` can be the body of overload declaration:\n"
        + "\n".join(parsed.source.text.split("\n")[:3])
        + f" <- Expecting `pass` or `...` here!\n{_EXAMPLE}"
    )


def _no_implementation(kind: str, function: Callable[..., Any]) -> str:
    from ts.frontend import parse

    name = _key(function)
    try:
        parsed = parse.function_def(function, signature_only=True)
        location = f'File "{parsed.source.filename}", line {parsed.source.first_line}:\n{parsed.source.text}'
    except OSError:
        location = ""
    return (
        f'Implementation for the {kind} "{name}" is missing. Please make sure a definition is provided and '
        f"defined after all overload declarations.\n{location}\n{_EXAMPLE}"
    )
