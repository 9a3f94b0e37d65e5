"""Errors for arguments of a wrong type, with PyTorch's exception class and message.

Input: a function, an argument and the expected type. Output: a RuntimeError, such as:

    f() Expected a value of type 'int' for argument 'x' but instead found type 'float'.
    Position: 0
    Value: 1.5
    Declaration: f(int x) -> int
"""

from __future__ import annotations

import re
from typing import Any, Final

from ts._core.tensor.array_coercion import conversion
from ts._core.value.spec import TypeSpec
from ts._core.value.type_of import describe_value

_NO_TYPE: Final = r"(?:List|Dictionary) (?:trace )?inputs (?:to traced functions )?must have "


def argument_error(
    function: str,
    name: str,
    spec: TypeSpec,
    position: int,
    x: Any,
    declaration: str,
    cause: object = None,
) -> RuntimeError:
    """Return the error for an argument `x` that could not be converted.

    `cause` is the exception of the conversion.
    """
    # The parameter has type Any, so the type of the argument had to be inferred, which failed.
    if re.match(_NO_TYPE, str(cause)):
        declared = f"Position: {position}\nDeclaration: {declaration}"
        return RuntimeError(f"Tracer cannot infer type of {describe_value(x, repr)}\n:{cause}\n{declared}")
    lines = [
        f"{function}() Expected a value of type '{spec.annotation_str}' for argument '{name}'"
        f" but instead found type '{_class_name(x)}'.",
        *_inferred(spec, name),
        f"Position: {position}",
        f"Value: {describe_value(x, repr)}",
        f"Declaration: {declaration}",
    ]
    if cause is not None:
        lines.append(f"Cast error details: {cause}")
    hint = conversion(x, spec.annotation_str)
    if hint:
        lines.append(f"Hint: {hint}")
    return RuntimeError("\n".join(lines))


def _inferred(spec: TypeSpec, name: str) -> list[str]:
    if not spec.annotation_str.endswith("(inferred)"):
        return []
    return [f"Inferred '{name}' to be of type 'Tensor' because it was not annotated with an explicit type."]


def _class_name(x: object) -> str:
    """Return the name of an object's class. For a NamedTuple, add the names of its fields."""
    fields = getattr(x, "_fields", None)
    aka = f" (aka NamedTuple({', '.join(fields)}))" if isinstance(x, tuple) and fields else ""
    return f"{type(x).__name__}{aka}"
