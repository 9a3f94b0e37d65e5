"""Python functions and other Python objects used by compiled code.

Each Python object (left) becomes a `SugaredValue` (right):

    def helper(x): ...              FunctionValue            compiled on demand
    @ignore def log(x): ...         PythonFunction           ^log[]()(%x): runs in Python
    @unused def train(x): ...       PythonFunction           raises when it is called
    @_overload def f(x: int): ...   OverloadedFunction       one compiled function for each declaration
    boolean_dispatch(...)           BooleanDispatch          a constant argument selects one of two functions
    functools.partial(f, k=2)       PythonFunction           runs in Python
    other objects                   PythonObject             cannot be used as a value

The result of a function that runs in Python must have the annotated type. Without annotations, all arguments
and the result are tensors. If the result is assigned to several names, it is a tuple of tensors.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FunctionType as PythonCallable
from types import UnionType
from typing import TYPE_CHECKING, Any

from ts.errors import (
    CompilationError,
    FrontendError,
    SchemaMatchError,
    UnresolvedAnnotationError,
    UnsupportedNodeError,
)
from ts.frontend import compile_directives, hints, overloads, parse
from ts.frontend.annotations import to_type
from ts.frontend.defaults import NO_DEFAULT, constant_of_type
from ts.frontend.resolve import Resolver
from ts.frontend.schema_matching import Actual, emit_builtin_call, match_schema, match_schemas
from ts.frontend.signatures import signature
from ts.frontend.sugared_values.sugared import FunctionValue, Kwargs, SimpleValue, SugaredValue
from ts.ir.schema import Argument, FunctionSchema
from ts.ir.source import SourceRange
from ts.ir.types import NONE, TENSOR, TensorType, TupleType, Type
from ts.ir.value import Value

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter

_DROPPED = "This Python function is annotated to be ignored and cannot be run"


# ---- functions that compiled code calls ------------------------------------------------------------


def function_value(em: Emitter, function: Callable[..., Any], range: SourceRange) -> SugaredValue:
    """Resolve a called Python function to a compiled, overloaded or Python-executed function."""
    alternative = compile_directives.alternative_of(function)
    if alternative is not None:
        raise UnsupportedNodeError(
            f"{function.__name__} requires functions as arguments, which scripts do not support",
            range,
            alternative,
        )
    marker = compile_directives.modifier_of(function)
    if marker in ("ignore", "unused"):
        return PythonFunction(function)
    error_text = getattr(function, "__dict__", {}).get("__unsupported_message__")
    if error_text is not None:
        return MissingFunction(function, error_text)
    if compile_directives.BOOLEAN_DISPATCH in getattr(function, "__dict__", ()):
        return BooleanDispatch(em, function, range)
    try:
        declared = overloads.compiled_overloads(function, em.compile_callee)
        if declared:
            return OverloadedFunction(declared)
        return FunctionValue(em.compile_callee(function))
    except FrontendError as error:
        call_range = range if em.calling is None else em.range(em.calling)
        module = function.__module__ or ""
        # The function is in Python's standard library
        if module.partition(".")[0] in sys.stdlib_module_names:
            error.hint = hints.standard_library(f"{module}.{function.__name__}")
        raise error.add_call(function.__name__, em.parsed.name, call_range) from None


def object_value(em: Emitter, obj: Any, range: SourceRange) -> SugaredValue:
    """Return the sugared value of a Python object that is neither a function nor a constant."""
    if inspect.isbuiltin(obj) and callable(obj):
        return UnsupportedBuiltin(obj)
    if inspect.ismethod(obj) and compile_directives.modifier_of(obj) is None:
        return function_value(em, obj.__func__, range)
    if callable(obj):
        return PythonFunction(obj)
    return PythonObject(obj)


class PythonFunction(SugaredValue):
    """Callable that runs in Python. `receiver` is the scripted object if the callable is a method."""

    def __init__(self, function: Callable[..., Any], receiver: Value | None = None) -> None:
        self.function = function
        self.receiver = receiver
        self.name = getattr(function, "__name__", "<python_value>")

    def describe(self) -> str:
        """Describe the function by its Python class, as PyTorch's error messages do."""
        return f"python value of type '{type(self.function).__name__}'"

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: scripts cannot hold Python functions as values."""
        raise no_value_error(self.describe(), range)

    def schema(self, count: int, n_binders: int) -> FunctionSchema:
        """Return the schema of a call with `count` arguments and a result assigned to `n_binders` names."""
        self_type = None if self.receiver is None else self.receiver.type()
        return python_schema(self.function, count, n_binders, self_type)

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit `prim::PythonOp`, or an exception for functions marked by `@ts.jit.unused`."""
        all_args = args if self.receiver is None else [self.receiver, *args]
        try:
            schema = self.schema(len(all_args), n_binders)
        # the error of an invalid annotation quotes the call, as in PyTorch
        except CompilationError as error:
            error.range = error.range or range
            raise
        if self.receiver is not None:
            receiver = Argument(schema.arguments[0].name, self.receiver.type())
            arguments = (receiver, *schema.arguments[1:])
            schema = FunctionSchema(schema.name, "", arguments, schema.returns, is_vararg=schema.is_vararg)
        try:
            matched = match_schema(schema, em.graph, range, all_args, kwargs)
        except SchemaMatchError as error:
            error.hint = _how_to_call(self.function) or error.hint
            raise
        result = matched.returns[0]
        if compile_directives.modifier_of(self.function) == "unused":
            message = em.constant(_DROPPED)
            emit_builtin_call(range, em.graph, "prim::RaiseException", [message])
            return SimpleValue(em.insert("prim::Uninitialized").output().set_type(result))
        node = em.insert("prim::PythonOp", matched.inputs, 1, range)
        node.set("name", self.name)
        by_name = [argument.name for argument in schema.arguments if argument.kwarg_only]
        node.set(
            "function", _KeywordOnlyAdapter(self.function, by_name) if by_name else self.function, "ival"
        )
        return SimpleValue(node.output().set_type(result))


class MissingFunction(PythonFunction):
    """PyTorch function that `ts` does not support. A call is compiled, but raises an error at run time."""

    def __init__(self, function: Callable[..., Any], error_text: str) -> None:
        super().__init__(function)
        self.error_text = error_text

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit a `prim::RaiseException` with the reason, and an uninitialized value as result."""
        emit_builtin_call(range, em.graph, "prim::RaiseException", [em.constant(self.error_text)])
        result = _unannotated_result(n_binders)
        return SimpleValue(em.insert("prim::Uninitialized").output().set_type(result))


class AppliedFunction(PythonFunction):
    """Method `apply` of an `autograd.Function`, called in Python."""

    def __init__(self, cls: Any) -> None:
        super().__init__(cls.apply)
        self.name = cls.__name__

    def schema(self, count: int, n_binders: int) -> FunctionSchema:
        """Return a schema with any number of arguments, and tensors as results."""
        result = _unannotated_result(n_binders)
        return FunctionSchema(
            "Function.apply", "", (Argument("cls", TENSOR),), (Argument("0", result),), is_vararg=True
        )


class FunctionClass(SugaredValue):
    """Subclass of `autograd.Function` as a sugared value."""

    kind = "Python type"

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return `apply` or a static method of the class. Raise CompilationError for other names."""
        if name == "apply":
            return AppliedFunction(self.cls)
        member = inspect.getattr_static(self.cls, name, None)
        if isinstance(member, staticmethod):
            return function_value(em, member.__func__, range)
        return super().attr(em, range, name)


def is_function_class(obj: object) -> bool:
    """Return whether an object is a subclass of `autograd.Function`."""
    return isinstance(obj, type) and type(obj).__name__ == "FunctionMeta"


def _unannotated_result(n_binders: int) -> Type:
    """Return the type of an unannotated result that is assigned to `n_binders` names."""
    return {0: NONE, 1: TENSOR}.get(n_binders) or TupleType([TENSOR] * n_binders)


def _how_to_call(function: Callable[..., Any]) -> str:
    """Return a hint for a call with wrong arguments of a function that runs in Python."""
    module_name = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", "")
    if module_name.partition(".")[0] == "numpy":
        return f"scripts cannot call NumPy functions; use torch.{name} or an @ts.jit.ignore function"
    if module_name == "builtins":
        return _BUILTINS.get(name, "it runs in Python, and only accepts tensors")
    return ""


_BUILTINS = {
    "set": "scripts do not support sets; use the keys of a dict",
    "frozenset": "scripts do not support sets; use the keys of a dict",
    "type": "types cannot be values; test with `isinstance(x, int)`",
    "map": "write a list comprehension",
    "filter": "write a `for` loop that appends to a list",
}


class _KeywordOnlyAdapter:
    """Adapter for calls by position: passes the last positional arguments to `function` by keyword.

    `names` are the keyword-only parameters of `function`.
    """

    def __init__(self, function: Callable[..., Any], names: Sequence[str]) -> None:
        self.function = function
        self.names = tuple(names)
        self.__wrapped__ = function  # `inspect.signature` returns the signature of this function

    def __call__(self, *args: Any) -> Any:
        first = len(args) - len(self.names)
        return self.function(*args[:first], **dict(zip(self.names, args[first:], strict=True)))


def python_schema(
    function: Callable[..., Any], count: int, n_binders: int, self_type: Type | None = None
) -> FunctionSchema:
    """Return the schema of a function that runs in Python.

    Parameters without annotations are tensors. If `inspect` cannot determine the signature, the schema has
    `count` tensor parameters. `self_type` is the type of the first parameter if the function is a method.
    """
    called = function.function if isinstance(function, _KeywordOnlyAdapter) else function
    name = getattr(called, "__qualname__", type(called).__qualname__)
    plain = inspect.unwrap(function)
    parameters: list[inspect.Parameter] = []
    is_signature_known = False
    if getattr(called, "__module__", None) != "builtins" or not isinstance(called, type):
        with suppress(TypeError, ValueError):  # before Python 3.13, builtin classes have no signatures
            parameters = list(inspect.signature(function).parameters.values())
            is_signature_known = True
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    is_vararg = any(parameter.kind is variable[0] for parameter in parameters)
    parameters = [parameter for parameter in parameters if parameter.kind not in variable]
    types = _annotated_types(plain, parameters, self_type)
    if types is None:
        results = _unannotated_result(n_binders)
        names = [parameter.name for parameter in parameters]
        if not is_signature_known:
            names += [str(i) for i in range(len(names), count)]
        types = [TENSOR] * len(names), results
    else:
        names = [parameter.name for parameter in parameters]
    if self_type is not None and types[0]:
        types[0][0] = self_type
    arguments = []
    by_name = {parameter.name: parameter for parameter in parameters}
    for parameter_name, parameter_type in zip(names, types[0], strict=True):
        default: object = NO_DEFAULT
        parameter = by_name.get(parameter_name)
        if parameter is not None and parameter.default is not parameter.empty:
            is_undefined = parameter.default is None and parameter_type.is_subtype_of(TENSOR)
            if not is_undefined:  # the schema has no default for a tensor parameter with the default None
                default = constant_of_type(parameter.default, parameter_type)
        has_default = default is not NO_DEFAULT
        arguments.append(
            Argument(
                parameter_name,
                parameter_type,
                default=default if has_default else None,
                has_default=has_default,
                kwarg_only=parameter is not None
                and parameter.kind is parameter.KEYWORD_ONLY
                and not isinstance(function, _KeywordOnlyAdapter),
            )
        )
    return FunctionSchema(name, "", tuple(arguments), (Argument("0", types[1]),), is_vararg=is_vararg)


def _annotated_types(
    function: Callable[..., Any], parameters: list[inspect.Parameter], self_type: Type | None
) -> tuple[list[Type], Type] | None:
    """Return the annotated types of parameters and result, or None for a function without annotations."""
    try:
        returns = inspect.signature(function).return_annotation
    except (TypeError, ValueError):
        return None
    inferred = TensorType.get_inferred()
    written = [parameter.annotation for parameter in parameters]
    if any(annotation is not inspect.Parameter.empty for annotation in [*written, returns]):
        resolver = Resolver.of_function(function) if isinstance(function, PythonCallable) else Resolver()

        def read(annotation: object) -> Type:
            if annotation is inspect.Parameter.empty:
                return inferred
            try:
                return to_type(annotation, resolver)
            except CompilationError as error:
                raise _unresolved(annotation, resolver, error) from None

        return [read(annotation) for annotation in written], read(returns)
    if not isinstance(function, PythonCallable):
        return None
    try:
        parsed = parse.function_def(function, signature_only=True)
    except (OSError, FrontendError):
        return None
    if parsed.type_comment is None:
        return None
    parsed.self_type = self_type
    typed_parameters, result = signature(parsed)
    return [parameter.type for parameter in typed_parameters], result or inferred


def _unresolved(annotation: object, resolver: Resolver, error: CompilationError) -> CompilationError:
    """Return PyTorch's error for an invalid annotation of a function that runs in Python."""
    if isinstance(annotation, str):
        message = f"Unknown type annotation: '{annotation}' at"
        return UnresolvedAnnotationError(message, hint=error.hint) if "Unknown type" in str(error) else error
    if typing.get_origin(annotation) not in (typing.Union, UnionType):
        return error
    for member in typing.get_args(annotation):
        try:
            to_type(member, resolver)
        except CompilationError:
            message = (
                f"Unsupported annotation {annotation} could not be resolved because {member} could not be "
                "resolved. At"
            )
            return UnresolvedAnnotationError(message, hint=error.hint)
    return error


# ---- overloaded functions --------------------------------------------------------------------------


class OverloadedFunction(SugaredValue):
    """Overloaded function. Calls select the first matching declaration."""

    kind = "function"

    def __init__(self, functions: Sequence[Any]) -> None:
        self.functions = list(functions)

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit the call of the first overload that accepts the arguments."""
        schemas = [function.schema for function in self.functions]
        index, matched = match_schemas(schemas, em.graph, range, args, kwargs)
        return FunctionValue(self.functions[index]).call_matched(em, range, matched)


class BooleanDispatch(SugaredValue):
    """Function selected by a constant argument, such as `return_indices` of pooling functions."""

    kind = "boolean dispatch"

    def __init__(self, em: Emitter, function: Callable[..., Any], range: SourceRange) -> None:
        self.choice = getattr(function, compile_directives.BOOLEAN_DISPATCH)

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit a call of the function that the bool argument selects. The argument must be a constant."""
        choice = self.choice
        flag_argument = args[choice.position] if choice.position < len(args) else kwargs.get(choice.name)
        flag = choice.default
        if flag_argument is not None:
            flag = flag_argument.to_ivalue() if isinstance(flag_argument, Value) else flag_argument.value
            if not isinstance(flag, bool):
                raise CompilationError(
                    f"value for boolean dispatch was neither true nor false: '{choice.name}' of "
                    f"{choice.if_true.__name__} has to be a constant",
                    range,
                )
        # pass the selecting argument, too: both functions have a parameter for it, although they ignore it
        callee = function_value(em, choice.if_true if flag else choice.if_false, range)
        return callee.call(em, range, args, kwargs, n_binders)


# ---- other objects ---------------------------------------------------------------------------------


class UnsupportedBuiltin(SugaredValue):
    """Python builtin implemented in C that scripts do not support."""

    kind = "builtin"

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: scripts cannot hold Python builtins as values."""
        raise no_value_error(f"python value of type '{type(self.function).__name__}'", range)

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Raise CompilationError with the advice to call the function in Python."""
        raise CompilationError(
            f"Python builtin {self.function} is currently not supported in Torchscript; call it in a "
            "function that is marked with @ts.jit.ignore",
            range,
        )


class PythonObject(SugaredValue):
    """Python object that compiled code cannot hold."""

    def getitem(self, em: Emitter, range: SourceRange, index: Value) -> SugaredValue:
        """Raise CompilationError: the object is not a value of the language."""
        raise no_value_error(self.describe(), range)

    def __init__(self, obj: object) -> None:
        self.obj = obj

    def describe(self) -> str:
        """Describe the object by its Python class, as PyTorch's error messages do."""
        return f"python value of type '{type(self.obj).__name__}'"

    def len(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: the object is not a value of the language."""
        raise no_value_error(self.describe(), range)

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Raise CompilationError, with advice for global lists, dicts and sets."""
        if isinstance(self.obj, list | dict | set):
            kind = type(self.obj).__name__
            hint = f"a global {kind} cannot be changed in scripts: pass it as an argument"
            raise CompilationError(f"attribute lookup is not defined on {self.describe()}", range, hint)
        return super().attr(em, range, name)

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: the object is not a value of the language."""
        raise no_value_error(self.describe(), range)


def no_value_error(kind: str, range: SourceRange) -> CompilationError:
    """Return the error for an expression of kind `kind`, which has no graph value."""
    return CompilationError(
        f"{kind} cannot be used as a value. Perhaps it is a closed over global variable? If so, please "
        "consider passing it in as an argument or use a local variable instead.",
        range,
    )
