"""Conversion of annotations to types.

Input: an annotation, as syntax or as a Python object. Output: a type of the compiler. Example:

    object_type(Optional[List[str]])                        str[]?
    to_type(syntax of "Dict[str, Tensor]", resolver)        Dict(str, Tensor)

`List`, `Optional`, `Tensor` and similar names need no import. Other names are resolved to Python objects.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types as python_types
import typing
import warnings
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeGuard, TypeVar

from ts._core.tensor.tensor import Tensor
from ts._core.thread import deadline
from ts.errors import CompilationError, FrontendError, UnresolvedAnnotationError
from ts.frontend import hints, python_syntax
from ts.frontend.classes import ATTRIBUTE, named_type
from ts.frontend.defaults import NO_DEFAULT, constant_of_type
from ts.frontend.naming import qualified_name
from ts.frontend.resolve import Resolver, to_ts
from ts.frontend.source_ranges import Ranges
from ts.ir import types as ir
from ts.ir.object_attributes import has_attribute, module_of
from ts.ir.source import SourceRange
from ts.ir.types import Type
from ts.module_names import is_own
from ts.ops.rpc_ops import WORKER_INFO, WorkerInfo

_T = TypeVar("_T")
SizedType = tuple[Type, int | None]
_BROADCASTING: Final = "BroadcastingList"
_SIZE_DIGITS: Final = 4  # maximum number of digits of N in BroadcastingListN
# name of an alias in `ts.nn.common_types` -> length of its tuple. For example, `_size_2_t` is one number, or
# a tuple of two numbers.
_SIZES: Final = {f"_size_{n}_t": n for n in range(1, 7)}
# CPython's Py_TPFLAGS_IMMUTABLETYPE, which is set for most classes written in C
IMMUTABLE_TYPE_FLAG: Final = 1 << 8
# Subclasses of these classes, and of Module, are not compiled to script classes. An instance of a script
# class has only attributes. It would lack the elements of a list or tuple.
_NEVER_SCRIPTED: Final = (list, tuple, BaseException)

_NAMES: dict[str, Callable[[], Type]] = {
    "Tensor": ir.TensorType.get,
    "int": ir.IntType.get,
    "float": ir.FloatType.get,
    "bool": ir.BoolType.get,
    "complex": ir.ComplexType.get,
    "str": ir.StringType.get,
    "None": ir.NoneType.get,
    "NoneType": ir.NoneType.get,
    "Any": ir.AnyType.get,
    "number": ir.NumberType.get,
    "Device": ir.DeviceObjType.get,
    "Generator": ir.GeneratorType.get,
    "Stream": ir.StreamObjType.get,
    "Capsule": ir.CapsuleType.get,
    "list": ir.AnyListType.get,
    "tuple": ir.AnyTupleType.get,
}
BARE: dict[str, str] = {
    "List": "Attempted to use List without a contained type. Please add a contained type, e.g. List[int]",
    "Tuple": "Attempted to use Tuple without a contained type. Please add a contained type, e.g. Tuple[int]",
    "Optional": "Attempted to use Optional without a contained type. "
    "Please add a contained type, e.g. Optional[int]",
    "Dict": "Attempted to use Dict without contained types. Please add contained type, e.g. Dict[int, int]",
    "RRef": "Attempted to use RRef without a contained type. Please add a contained type, e.g. RRef[int]",
}
# Time and memory that each expression in an annotation charges to `ts.limits`.
_TYPE_NS = 3_000
_TYPE_BYTES = 300

_KEY_TYPES = (
    ir.StringType, ir.IntType, ir.FloatType, ir.BoolType, ir.ComplexType, ir.TensorType, ir.DeviceObjType,
    ir.AnyType,
)  # fmt: skip


def to_type(annotation: ast.expr | object, resolver: Resolver, ranges: Ranges | None = None) -> Type:
    """Return the type of an annotation, given as syntax or as a Python object."""
    reader = AnnotationParser(resolver, ranges)
    return reader.read(annotation) if isinstance(annotation, ast.expr) else reader.read_evaluated(annotation)


def object_type(annotation: object) -> Type | None:
    """Return the type that a Python object (`List[int]`) denotes as annotation, or None if it is invalid."""
    try:
        return AnnotationParser(Resolver(), None).read_evaluated(annotation)
    except FrontendError:
        return None


def _tensor_of_old(annotation: object) -> Type | None:
    """Return Tensor and issue a warning for a legacy type such as `ts.LongTensor`, else return None."""
    if getattr(annotation, "__ts_annotation__", None) != "Tensor":
        return None
    warnings.warn(
        "TorchScript will treat type annotations of Tensor dtype-specific subtypes as if they are normal "
        "Tensors. dtype constraints are not enforced in compilation either.",
        stacklevel=2,
    )
    return ir.TENSOR


class AnnotationParser:
    """Parser of annotations, with names resolved in one scope."""

    def __init__(
        self, resolver: Resolver, ranges: Ranges | None, fallback_range: SourceRange | None = None
    ) -> None:
        self.resolver = resolver
        self.ranges = ranges
        self.is_text = False
        # Source range that errors show for an annotation in a string, because such an annotation has no range
        # of its own.
        self.fallback_range = fallback_range

    def argument(self, node: ast.expr) -> SizedType:
        """Return (type, size) for a parameter's annotation: (`int[]`, 2) for `BroadcastingList2[int]`.

        If the annotation has no size, the size is None.
        """
        match node:
            case ast.Name(id=name) if name in _SIZES:
                return ir.ListType(ir.INT), _SIZES[name]
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
                if name.startswith(_BROADCASTING):
                    return self._broadcasting(node, name.removeprefix(_BROADCASTING), inner)
                if name == "Optional" and not isinstance(inner, ast.Tuple):
                    try:
                        type, size = self.argument(inner)
                    except CompilationError as error:
                        raise self._unresolved_argument(node, name, error) from None
                    return union([type, ir.NONE]), size
            case ast.BinOp(left=inner, op=ast.BitOr(), right=ast.Constant(value=None)):
                type, size = self.argument(inner)
                return union([type, ir.NONE]), size
            case ast.Constant(value=str(annotation)):
                return self._quoted(annotation, node, AnnotationParser.argument)
        return self.read(node), None

    def read_live(self, node: ast.expr, annotation: object) -> SizedType:
        """Return (type, size) for the annotation `node` of a live Python function, as `argument` does.

        If a name in `node` is unknown, convert `annotation` instead, the evaluated Python object. For
        example, a local class is unknown if the body of the function does not use it.
        """
        try:
            return self.argument(node)
        except CompilationError as error:
            if annotation is None or isinstance(annotation, str) or "Unknown type" not in str(error):
                raise
            try:
                live_type = self._convert(to_ts(annotation))
            except CompilationError as reason:
                # All names in the annotation are known, but the annotation is not supported. Raise this
                # error, which is more precise.
                if "Unknown type" not in str(reason):
                    reason.range = reason.range or self._range(node)
                    raise
                live_type = None
            if live_type is None:
                raise
            return live_type, None

    def _broadcasting(self, node: ast.Subscript, size: str, elem: ast.expr) -> SizedType:
        if not size.isdecimal() or len(size) > _SIZE_DIGITS:
            raise CompilationError(
                "subscript of Broadcastable list must be a positive integer", self._range(node.slice)
            )
        type = self.read(elem)
        if type not in (ir.INT, ir.FLOAT):
            raise CompilationError(
                "Broadcastable lists only supported for int or float", self._range(node.value)
            )
        return ir.ListType(type), int(size)

    def read(self, node: ast.expr) -> Type:
        """Return the type that an annotation expression denotes. Raise CompilationError if none is known."""
        deadline.charge(_TYPE_NS, bytes=_TYPE_BYTES)
        match node:
            case ast.Name(id=name) if name in _NAMES:
                return _NAMES[name]()
            case ast.Name(id=name) if name in BARE:
                raise CompilationError(BARE[name], self._range(node))
            case ast.Name() | ast.Attribute():
                return self._named(node)
            case ast.Constant(value=None):
                return ir.NONE
            case ast.Constant(value=str(annotation)):
                return self._quoted(annotation, node, AnnotationParser.read)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return union([self.read(left), self.read(right)])
            case ast.Subscript(value=base, slice=index):
                return self._generic(node, base, index)
        raise CompilationError(
            f"Expression of type {_syntax_name(node)} cannot be used in a type expression", self._range(node)
        )

    def _named(self, node: ast.Name | ast.Attribute) -> Type:
        try:
            annotation = self.resolver.evaluate(node)
        except (KeyError, AttributeError):
            annotation = None
        if isinstance(node, ast.Attribute) and node.attr in BARE:
            raise CompilationError(BARE[node.attr], self._range(node))
        try:
            result = self._convert(annotation) if annotation is not None else None
        except FrontendError as error:
            # The error describes the object to which the name refers. It has no location, so add the location
            # of the name.
            error.range = error.range or self._range(node)
            raise
        if result is None and isinstance(node, ast.Attribute) and annotation is None:
            # a name such as `typing.Any`, in source text that does not import `typing`
            result = _NAMES.get(node.attr, lambda: None)()
        if result is None:
            name = ast.unparse(node)
            hint = hints.type_name(name, {*_NAMES, *_GENERICS})
            raise CompilationError(f"Unknown type name '{name}'", self._range(node), hint)
        return result

    def _quoted(
        self, annotation: str, node: ast.Constant, read: Callable[[AnnotationParser, ast.expr], _T]
    ) -> _T:
        try:
            expression = python_syntax.expression(annotation.strip())
        except SyntaxError:
            raise CompilationError(f"Unknown type name '{annotation}'", self._range(node)) from None
        return read(AnnotationParser(self.resolver, None, self._range(node)), expression)

    def _generic(self, node: ast.Subscript, base: ast.expr, index: ast.expr) -> Type:
        if self.is_text and not isinstance(base, ast.Name | ast.Attribute):
            raise CompilationError("Subscripted type must be a type identifier", self._range(base))
        constructor = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        arguments = index.elts if isinstance(index, ast.Tuple) else [index]
        # The annotation `Tuple[(int,)]` of a Python function means `Tuple[int]`. In a string, PyTorch's
        # parser rejects it.
        if self.is_text and isinstance(index, ast.Tuple) and index.elts and constructor == "Tuple":
            index_range = self._range(index)
            if index_range is not None and index_range.text().startswith("("):
                raise CompilationError(
                    "Tuple literal in Tuple type annotation must not have any elements!",
                    self._range(index.elts[0]),
                )
        build = _GENERICS.get(constructor)
        if build is None:
            try:
                live_type = self._convert(self.resolver.evaluate(node))
            except (KeyError, AttributeError, TypeError):
                live_type = None
            if live_type is not None:
                return live_type
            hint = hints.type_name(constructor, _GENERICS)
            raise CompilationError(f"Unknown type constructor {constructor}", self._range(node), hint)
        try:
            contained_types = [self.read(argument) for argument in arguments]
        except CompilationError as error:
            raise self._unresolved_argument(node, constructor, error) from None
        return build(contained_types, self._range(node))

    def _unresolved_argument(
        self, node: ast.Subscript, constructor: str, error: CompilationError
    ) -> CompilationError:
        """Return PyTorch's error for the annotation `node` with an invalid argument, such as `Optional[3]`.

        PyTorch's message contains the evaluated annotation. Return `error` if `node` cannot be evaluated, or
        if its constructor is not Optional, Union or Dict.
        """
        is_dict = constructor in ("Dict", "dict")
        is_known = is_dict or constructor in ("Optional", "Union")
        is_wrapped = isinstance(error, UnresolvedAnnotationError)
        if not is_known or is_wrapped or "Unknown type name" not in str(error):
            return error
        try:
            annotation = self.resolver.evaluate(node)
            arguments = typing.get_args(annotation)
        except (KeyError, AttributeError, TypeError):
            return error
        invalid_argument = next((argument for argument in arguments if not self._is_type(argument)), None)
        if invalid_argument is None or isinstance(invalid_argument, typing.ForwardRef):
            return error
        if is_dict:
            message = f"Unknown type annotation: '{invalid_argument!r}' at"
        else:
            message = (
                f"Unsupported annotation {annotation!r} could not be resolved "
                f"because {invalid_argument!r} could not be resolved. At"
            )
        return UnresolvedAnnotationError(message, self._range(node), error.hint)

    def _is_type(self, annotation: Any) -> bool:
        try:
            return self._convert(to_ts(annotation)) is not None
        except CompilationError:
            return False

    def read_evaluated(self, annotation: object) -> Type:
        """Return the type of an evaluated annotation.

        Raise UnresolvedAnnotationError if it denotes no type.
        """
        result = self._convert(to_ts(annotation))
        if result is None:
            raise UnresolvedAnnotationError(
                f"Unknown type annotation: '{annotation}' at", self.fallback_range
            )
        return result

    def _convert(self, annotation: Any) -> Type | None:
        """Return the type that an evaluated annotation denotes, or None if it denotes no type."""
        if isinstance(annotation, Type):
            return annotation
        if annotation is None or annotation is type(None):
            return ir.NONE
        if isinstance(annotation, str):
            return self.read(python_syntax.expression(annotation.strip()))
        if isinstance(annotation, typing.ForwardRef):
            return self._convert(annotation.__forward_arg__)
        if annotation is typing.Any:
            return ir.ANY
        if isinstance(annotation, typing._SpecialGenericAlias | typing._SpecialForm):  # type: ignore[attr-defined]
            message = BARE.get(getattr(annotation, "_name", "") or "")
            if message:
                raise CompilationError(message, self.fallback_range)
        origin = typing.get_origin(annotation)
        if origin is not None:
            return self._convert_generic(annotation, origin)
        if isinstance(annotation, type):
            return self._convert_class(annotation)
        return _tensor_of_old(annotation)

    def _convert_generic(self, annotation: Any, origin: Any) -> Type | None:
        arguments = [a for a in typing.get_args(annotation) if a != ()]
        if origin in (typing.Union, python_types.UnionType):
            name = "Union"
        elif origin in (list, tuple, dict):
            name = origin.__name__
        else:
            name = getattr(origin, "__name__", "")
        build = _GENERICS.get(name)
        if build is None or ... in arguments:
            return None
        return build([self.read_evaluated(argument) for argument in arguments], self.fallback_range)

    def _convert_class(self, cls: Any) -> Type | None:
        if cls in _CLASSES:
            return _CLASSES[cls]()
        if issubclass(cls, Enum):
            from ts.frontend.enums import enum_type

            return enum_type(cls, self.fallback_range)
        if issubclass(cls, WorkerInfo):
            return WORKER_INFO
        if issubclass(cls, Tensor):
            return ir.TENSOR
        if has_attribute(cls, "_fields") and issubclass(cls, tuple):
            return self._named_tuple(cls)
        # The class belongs to `ts` and is no script class
        if is_own(getattr(cls, "__module__", "")) and "__ts_name__" not in vars(cls):
            return _ts_class(cls)
        # the class is written in C, such as bytes and numpy.ndarray, and cannot be compiled
        if cls.__flags__ & IMMUTABLE_TYPE_FLAG:
            return None
        if ATTRIBUTE not in cls.__dict__ and (issubclass(cls, _NEVER_SCRIPTED) or is_module_class(cls)):
            return None
        return named_type(cls)

    def _named_tuple(self, cls: Any) -> Type:
        annotations: dict[str, object] = {}
        for base in reversed(cls.__mro__):
            annotations |= inspect.get_annotations(base)
        module = getattr(sys.modules.get(module_of(cls)), "__dict__", {})
        reader = AnnotationParser(Resolver(module, *self.resolver.scopes), None, self.fallback_range)
        inferred = ir.TensorType.get_inferred()
        types = [
            reader.read_evaluated(annotations[name]) if name in annotations else inferred
            for name in cls._fields
        ]
        defaults = {}
        for name, value in cls._field_defaults.items():
            constant = constant_of_type(value, types[cls._fields.index(name)])
            # A default that cannot be a constant of the field's type, such as a list, is stored as a Python
            # value. If the default has a wrong type, only a call that uses the default raises an error.
            defaults[name] = to_ts(value) if constant is NO_DEFAULT else constant
        return ir.TupleType(types, qualified_name(cls), cls._fields, defaults, cls)

    def _range(self, node: ast.expr) -> SourceRange | None:
        return self.ranges.of(node) if self.ranges is not None else self.fallback_range


def union(types: list[Type]) -> Type:
    """Return the union of types. The union of int, float and complex is Scalar."""
    if set(types) == {ir.INT, ir.FLOAT, ir.COMPLEX}:
        return ir.NUMBER
    return types[0] if len(types) == 1 else ir.UnionType(types)


def _one(name: str, build: Callable[[Type], Type]) -> Callable[[list[Type], SourceRange | None], Type]:
    def checked(arguments: list[Type], range: SourceRange | None) -> Type:
        if len(arguments) != 1:
            raise CompilationError(
                f"expected exactly one element type but found {len(arguments)}", range, f"write `{name}[int]`"
            )
        return build(arguments[0])

    return checked


def _dict(arguments: list[Type], range: SourceRange | None) -> Type:
    if len(arguments) != 2:
        raise CompilationError(
            f"expected exactly 2 element types but found {len(arguments)}", range, "write `Dict[str, int]`"
        )
    key, value = arguments
    return dict_type(key, value, range)


def dict_type(key: Type, value: Type, range: SourceRange | None) -> ir.DictType:
    """Return the dict type of a key and a value type. Raise CompilationError for unsupported key types."""
    if not isinstance(key, _KEY_TYPES):
        raise CompilationError(
            f"Cannot create dict for key type '{key.str()}', only int, float, complex, Tensor, device "
            "and string keys are supported",
            range,
        )
    return ir.DictType(key, value)


_LIST = _one("List", ir.ListType)
_TUPLE: Callable[[list[Type], SourceRange | None], Type] = lambda arguments, range: ir.TupleType(arguments)  # noqa: E731
_GENERICS: dict[str, Callable[[list[Type], SourceRange | None], Type]] = {
    "List": _LIST,
    "list": _LIST,
    "Dict": _dict,
    "dict": _dict,
    "Tuple": _TUPLE,
    "tuple": _TUPLE,
    "Optional": _one("Optional", lambda elem: union([elem, ir.NONE])),
    "Union": lambda arguments, range: union(arguments),
    "Future": _one("Future", ir.FutureType),
    "Await": _one("Await", ir.AwaitType),
    "RRef": _one("RRef", ir.RRefType),
}
_CLASSES: dict[type, Callable[[], Type]] = {
    int: ir.IntType.get,
    float: ir.FloatType.get,
    bool: ir.BoolType.get,
    complex: ir.ComplexType.get,
    str: ir.StringType.get,
    list: ir.AnyListType.get,
    tuple: ir.AnyTupleType.get,
}
_TS_CLASSES: dict[str, Callable[[], Type]] = {
    "Tensor": ir.TensorType.get,
    "Parameter": ir.TensorType.get,
    "device": ir.DeviceObjType.get,
    "dtype": ir.IntType.get,
    "layout": ir.IntType.get,
    "memory_format": ir.IntType.get,
    "Generator": ir.GeneratorType.get,
    "Stream": ir.StreamObjType.get,
}


def is_module_class(cls: object) -> TypeGuard[type]:
    """Return whether an object is a subclass of Module."""
    return isinstance(cls, type) and any(
        base.__name__ == "Module" and has_attribute(base, "named_parameters") for base in cls.__mro__
    )


def _ts_class(cls: type) -> Type | None:
    build = _TS_CLASSES.get(cls.__name__)
    return build() if build is not None else None


def _syntax_name(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return "dots" if node.value is ... else str(node.value) if isinstance(node.value, bool) else "const"
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)]
    return {"Call": "apply", "List": "list-literal", "Tuple": "tuple-literal"}.get(
        type(node).__name__, type(node).__name__.lower()
    )


_OPERATORS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
