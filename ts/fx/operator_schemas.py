"""Argument normalization of calls: conversion to keyword arguments, with default values filled in.

Names and defaults come from the signature of a function, an operator or a layer. Each line shows a call and
its result:

    normalize_function(ts.nn.functional.relu, (x,), {}, normalize_to_only_use_kwargs=True)
                                                  ArgsKwargsPair((), {"input": x, "inplace": False})
    normalize_module(net, "conv", (x,))           ArgsKwargsPair((x,), {})
"""

from __future__ import annotations

import enum
import inspect
import numbers
import typing
import warnings
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, Final, NamedTuple

import ts
from ts._core.dispatch.overloads import OverloadSet
from ts.fx.torch_function_forwarding import signature_of
from ts.ir.schema import FunctionSchema
from ts.nn.modules.module import Module
from ts.ops.namespace import OpOverload, Packet

__all__ = [
    "ArgsKwargsPair", "check_for_mutable_operation", "create_type_hint", "get_signature_for_torch_op",
    "normalize_function", "normalize_module", "type_matches",
]  # fmt: skip


class ArgsKwargsPair(NamedTuple):
    """Positional and keyword arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


# ---------------------------------------------------------------- signatures of operators


class _Torch:
    """Namespace for annotations in schemas that start with `__torch__`."""

    def __getattr__(self, name: str) -> Any:
        if name == "torch":
            return ts
        raise RuntimeError("Expected a torch namespace lookup")


_TYPES: Final[dict[str, Any]] = {
    **{name: getattr(typing, name) for name in dir(typing) if not name.startswith("__")},
    "Tensor": ts.Tensor,
    "Device": ts.device,
    "Layout": ts.layout,
    "number": numbers.Number,
    "Future": ts.jit.Future,
    "AnyEnumType": enum.Enum,
    "__torch__": _Torch(),
    "NoneType": type(None),
    "Storage": ts.UntypedStorage,
    "t": typing.TypeVar("t"),
    "PyObject": Any,
}


def _python_type(annotation: str) -> Any:
    return eval(annotation, dict(_TYPES))  # safe: the text is from an operator schema and not from a program


def _signature(schema: FunctionSchema) -> Signature:
    """Convert a schema to a Python signature. The parameter `self` is named `input`."""
    parameters: list[Parameter] = []
    for argument in schema.arguments:
        kind: Any = Parameter.KEYWORD_ONLY if argument.kwarg_only else Parameter.POSITIONAL_OR_KEYWORD
        # `from` is a keyword of Python and cannot be passed by name. It is positional-only, which requires
        # that earlier parameters are positional-only, too.
        if argument.name == "from":
            kind = Parameter.POSITIONAL_ONLY
            parameters = [p.replace(kind=kind) for p in parameters]
        default = argument.default_value if argument.has_default else Parameter.empty
        name = "input" if argument.name == "self" else argument.name
        of = _python_type(argument.type.annotation_str)
        parameters.append(Parameter(name, kind, default=default, annotation=of))
    results = tuple(_python_type(r.type.annotation_str) for r in schema.returns)
    return_type: Any = results if len(results) > 1 else results[0] if results else None
    return Signature(parameters, return_annotation=return_type)


def _of_nonzero() -> list[Signature]:
    x = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD, annotation=ts.Tensor)
    as_tuple = Parameter("as_tuple", Parameter.KEYWORD_ONLY, annotation=bool)
    return [Signature([x], return_annotation=None), Signature([x, as_tuple], return_annotation=None)]


def get_signature_for_torch_op(op: Any, return_schemas: bool = False) -> Any:
    """Return the signatures of an operator's overloads, or None if `op` is not an operator.

    With `return_schemas`, return (signatures, schemas).
    """
    if op is ts.nonzero:
        return (_of_nonzero(), None) if return_schemas else None
    if isinstance(op, Packet):
        operators = [o for name in op.overloads() for o in getattr(op, name).operators()]
    elif isinstance(op, OverloadSet | OpOverload):
        operators = op.operators()
    else:
        return (None, None) if return_schemas else None
    schemas = [o.schema for o in operators]
    signatures = [_signature(s) for s in schemas]
    return (signatures, schemas) if return_schemas else signatures


def check_for_mutable_operation(
    target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raise RuntimeError if exactly one overload of `target` accepts the arguments, and it is mutable."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    if not signatures or not schemas:
        return
    fit = [
        schema
        for signature, schema in zip(signatures, schemas, strict=True)
        if _can_bind(signature, args, kwargs)
    ]
    if len(fit) == 1 and fit[0].is_mutable:
        raise RuntimeError(
            f"Tried to trace mutable operation {fit[0]}. FX only supports functional code, so operations "
            "that mutate operands in-place (e.g. via `out` arguments) are not supported"
        )


def _can_bind(signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


# ---------------------------------------------------------------- comparison of types


def create_type_hint(x: object) -> object:
    """Convert a list or tuple of types, such as `[int, int]`, to a type, `list[int]`.

    Return other objects unchanged.
    """
    try:
        if isinstance(x, list | tuple):
            base: Any = x[0] if x else Any
            for each in x:
                if issubclass(base, each):
                    base = each
                elif not issubclass(each, base):
                    base = Any
                    break
            return list[base] if isinstance(x, list) else tuple[base, ...]
    except Exception:
        warnings.warn(f"We were not able to successfully create type hint from the type {x}", stacklevel=2)
    return x


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Return True if an argument of type `argument_type` fits a parameter of type `signature_type`."""
    if signature_type is argument_type:
        return True
    origin = getattr(signature_type, "__origin__", signature_type)
    inner = typing.get_args(signature_type)
    if origin is typing.Union and signature_type != argument_type:
        return any(type_matches(each, argument_type) for each in inner)
    if origin is list and inner:
        element = inner[0]
        if argument_type is int and element is int:
            return True
        if not inspect.isclass(element):
            warnings.warn(
                f"Does not support nested parametric types, got {signature_type}. Please file a bug.",
                stacklevel=2,
            )
            return False
        inner_types = typing.get_args(argument_type)
        if getattr(argument_type, "__origin__", None) is list:
            return issubclass(inner_types[0], element)
        if typing.get_origin(argument_type) is not tuple:
            return False
        return inner_types == ((),) or all(
            each is Ellipsis or issubclass(each, element) for each in inner_types
        )
    if signature_type is int and argument_type is ts.dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    if inspect.isclass(argument_type) and inspect.isclass(signature_type):
        return issubclass(argument_type, signature_type)
    return False


# ---------------------------------------------------------------- normalization of arguments


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return the arguments of a function call by the parameter names of the function's signature.

    Return None if the function has no signature that accepts the arguments. Raise RuntimeError if several
    overloads accept the arguments and the types of the arguments are not given.
    """
    kwargs = kwargs or {}
    if not callable(target):
        raise AssertionError(f"target_for_analysis must be callable, got {type(target)}")
    signature = signature_of(target)
    if signature is None and not isinstance(target, OverloadSet | OpOverload | Packet):
        if inspect.isbuiltin(target):
            return None
        signature = inspect.signature(inspect.unwrap(target))
    if signature is not None:
        return _normalized(signature, args, kwargs, normalize_to_only_use_kwargs)
    signatures = get_signature_for_torch_op(target) or []
    fit = [each for each in signatures if _can_bind(each, args, kwargs)]
    if len(fit) > 1 and (arg_types is not None or kwarg_types is not None):
        fit = [each for each in signatures if _accepts_types(each, arg_types or (), kwarg_types or {})][:1]
    if len(fit) > 1:
        listed = "\n".join(str(each) for each in fit)
        raise RuntimeError(
            f"Tried to normalize arguments to {ts.typename(target)} but the schema match was ambiguous! "
            "Please "
            f"provide argument types to the normalize_arguments() call. Available schemas:\n{listed}"
        )
    return _normalized(fit[0], args, kwargs, normalize_to_only_use_kwargs) if fit else None


def _accepts_types(signature: Signature, arg_types: tuple[Any, ...], kwarg_types: dict[str, Any]) -> bool:
    try:
        types = signature.bind(*arg_types, **kwarg_types).arguments
    except TypeError:
        return False
    return all(type_matches(signature.parameters[name].annotation, of) for name, of in types.items())


def _normalize_function_or_error(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair:
    arguments = normalize_function(target, args, kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs)
    if arguments is None:
        raise RuntimeError(f"Failed to normalize function {target} with args {args} and kwargs {kwargs}")
    return arguments


def normalize_module(
    root: Module,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return the arguments of a layer's call by the parameter names of `forward`.

    Return None if the class of the layer is not defined in `ts.nn`.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if getattr(ts.nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return _normalized(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _normalized(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], by_name: bool
) -> ArgsKwargsPair | None:
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    uniform = ["input", "from", "to", "generator"]
    if any(p.kind not in named for p in signature.parameters.values()) and [*signature.parameters] != uniform:
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    count = 0 if by_name else len(args)
    every = list(bound.arguments.items())
    return ArgsKwargsPair(tuple(value for _, value in every[:count]), dict(every[count:]))
