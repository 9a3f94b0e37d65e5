"""Conversion of Python objects referenced by a function to sugared values.

The object bound to a name (left) becomes a `SugaredValue` (right):

    math.sqrt    BuiltinFunction("aten::sqrt")
    torch.relu   BuiltinFunction("aten::relu")
    3, "x"       SimpleValue(a constant)
    helper       FunctionValue(compiled on demand)
    ValueError   ExceptionClass
    math         PythonModule

The table `GLOBALS` contains Python's builtin names. Variables may shadow them.
"""

from __future__ import annotations

import builtins
import cmath
import collections
import inspect
import math
import sys
import warnings
from collections.abc import Sequence
from enum import Enum
from types import FunctionType as PythonFunction
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from ts._core.dispatch.overrides import Overridable
from ts.dtypes import dtype as DType
from ts.dtypes import layout, memory_format
from ts.errors import CompilationError, FrontendError
from ts.frontend import compile_directives, hints, resolve
from ts.frontend.annotations import BARE, IMMUTABLE_TYPE_FLAG, object_type
from ts.frontend.classes import ATTRIBUTE
from ts.frontend.enums import EnumClassValue, enum_constant
from ts.frontend.schema_matching import Actual
from ts.frontend.sugared_values import python_functions
from ts.frontend.sugared_values.classes import ClassValue, class_of
from ts.frontend.sugared_values.sugared import (
    AssertionFailure,
    BreakpointValue,
    BuiltinFunction,
    CastValue,
    ExceptionClass,
    FunctionValue,
    Kwargs,
    NamedTupleConstructor,
    PrintValue,
    SimpleValue,
    SpecialForm,
    SugaredValue,
    WarnFunction,
)
from ts.ir.object_attributes import has_attribute, module_of
from ts.ir.source import SourceRange
from ts.ir.types import BOOL, COMPLEX, FLOAT, INT, STR, ClassType, InterfaceType, TupleType
from ts.ir.value import Value
from ts.module_names import is_own, own_name
from ts.ops import registry
from ts.ops.namespace import Namespace, Packet
from ts.ops.rpc_ops import RRefValue

if TYPE_CHECKING:
    from ts.frontend.ir_emitter.emitter import Emitter


_PRIVATE_MODULES: Final = frozenset({"_C", "_nn", "_VF", "_linalg", "_fft", "_special"})


class PythonModule(SugaredValue):
    """Python module as a sugared value. Its attributes are resolved at compile time."""

    kind = "module"

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: modules of Python are only accessible by attribute."""
        raise python_functions.no_value_error("python value of type 'module'", range)

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return an operator for a function of `ts`, else the module's attribute as a sugared value."""
        module_name = own_name(self.module.__name__)
        if name in _PRIVATE_MODULES and module_name == "ts":
            return OperatorModule(self.module)
        if is_own(module_name) and not _is_function_in_script_subset(
            getattr(self.module, "__dict__", {}).get(name)
        ):
            operator = operator_of(module_name, name)
            if operator is not None:
                return BuiltinFunction(operator)
        try:
            obj = resolve.attribute(self.module, name)
        except AttributeError:
            raise CompilationError(
                f"object has no attribute {name}: module '{self.module.__name__}' does not have it",
                range,
                hints.similar(name, dir(self.module)),
            ) from None
        return to_sugared(em, obj, range, f"{self.module.__name__}.{name}")


def _is_function_in_script_subset(obj: object) -> bool:
    """Return whether `obj` is a Python function that is compiled from its source.

    This is true for functions of a program (after `torch.relu = my_relu`) and of `nn.functional` (after
    `torch.functional.dropout = F.dropout`).
    """
    function = obj.__wrapped__ if isinstance(obj, Overridable) else obj
    if not isinstance(function, PythonFunction):
        return False
    module_name = own_name(module_of(function))
    return not is_own(module_name) or module_name.startswith("ts.nn.functional.")


class OperatorModule(PythonModule):
    """Module such as `torch._VF`: its names are operators, even if functions of these names exist in `ts`."""

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return the operator of this name, or else the module's attribute."""
        if name in _PRIVATE_MODULES:
            return self
        if registry.lookup(f"aten::{name}"):
            return BuiltinFunction(f"aten::{name}")
        return super().attr(em, range, name)


class OperatorNamespace(SugaredValue):
    """Namespace `torch.ops.aten`, or one of its operators."""

    kind = "operator namespace"

    def __init__(self, names: Namespace | Packet) -> None:
        self.names = names

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return the operator `name` of a namespace.

        Raise CompilationError for an overload, such as `torch.ops.aten.add.Tensor`, as PyTorch does.
        """
        if isinstance(self.names, Packet):
            raise CompilationError(
                f"an overload cannot be named in scripts: write torch.ops.aten.{self.names.__name__}(...)",
                range,
            )
        qualified = f"{self.names.name}::{name}"
        if not registry.lookup(qualified):
            raise CompilationError(f"Unknown builtin op: {qualified}", range)
        return BuiltinFunction(qualified)

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit a call of the operator. A namespace raises CompilationError."""
        if not isinstance(self.names, Packet):
            return super().call(em, range, args, kwargs, n_binders)
        return BuiltinFunction(self.names.qualified_name).call(em, range, args, kwargs, n_binders)


class ModuleClass(SugaredValue):
    """Module class: scripts cannot create modules, but can call static methods of the class."""

    kind = "module class"

    def __init__(self, cls: type, name: str) -> None:
        self.cls = cls
        self.name = name

    def as_value(self, em: Emitter, range: SourceRange) -> Value:
        """Raise CompilationError: modules are created in Python and passed as attributes."""
        raise CompilationError(
            f"Could not get name of python class object: '{self.name}' is a module. "
            "Modules are made outside of scripted code and passed in as attributes of a module",
            range,
        )

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Raise CompilationError: scripts cannot create modules."""
        return SimpleValue(self.as_value(em, range))

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Return an attribute of the class, such as a static method. Raise CompilationError if missing."""
        if not has_attribute(self.cls, name):
            raise CompilationError(
                f"object has no attribute {name}: the class '{self.name}' does not have it",
                range,
                hints.similar(name, dir(self.cls)),
            )
        return to_sugared(em, getattr(self.cls, name), range, f"{self.name}.{name}")


class TensorClass(SugaredValue):
    """Class `torch.Tensor`, which scripts can use only as a type."""

    kind = "builtin"

    def attr(self, em: Emitter, range: SourceRange, name: str) -> SugaredValue:
        """Raise CompilationError: methods are called on a tensor, not on the class."""
        raise CompilationError(
            f"attribute lookup is not defined on {self.kind}",
            range,
            f"call the method of a tensor: `x.{name}(...)`",
        )

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Raise CompilationError, with the advice to call `torch.tensor` or `torch.empty`."""
        raise CompilationError(
            "Unknown builtin op: aten::Tensor.\nHere are some suggestions: \n\taten::tensor\n\n"
            "The original call is",
            range,
            "write `torch.tensor([...])` for values, `torch.empty(...)` for a shape",
        )


_SPECIAL_OPERATORS: Final = {
    "device": "aten::device",
    "is_scripting": "aten::is_scripting",
    "_assert": "aten::_assert",
    "Generator": "aten::Generator",
}
_NO_OPERATORS_IN: Final = ("ts.nn.functional.", "ts.nn.init", "ts.nn.utils", "ts.func.")
_NOT_OPERATORS: Final = frozenset({"jit", "annotate", "nn", "cpu", "cuda", "Tensor", "dtype"})


def operator_of(module: str, name: str) -> str | None:
    """Return the name of the operator that computes function `name` of `ts` module `module`, or None."""
    if name in _NOT_OPERATORS or module.startswith(_NO_OPERATORS_IN):
        return None
    # `WRITTEN` contains functions of `ts` that are compiled from their source and are not operators.
    if name in getattr(sys.modules.get(module), "WRITTEN", ()):
        return None
    if name in _SPECIAL_OPERATORS:
        return _SPECIAL_OPERATORS[name]
    last = module.rpartition(".")[2]
    candidates = [f"aten::{name}"]
    if last in ("linalg", "special", "fft"):
        candidates.insert(0, f"aten::{last}_{name}")
    return next((candidate for candidate in candidates if registry.lookup(candidate)), None)


_MATH_NAMES: Final = (
    "ceil", "copysign", "erf", "erfc", "exp", "expm1", "fabs", "floor", "gamma", "lgamma", "log", "log10",
    "log1p", "pow", "radians", "degrees", "sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "acos",
    "acosh", "asin", "asinh", "atan", "atanh", "atan2", "factorial", "fmod", "frexp", "gcd", "isnan", "isinf",
    "isfinite", "ldexp", "modf",
)  # fmt: skip
_MATH: Final = {getattr(math, name): f"aten::{name}" for name in _MATH_NAMES}
_MATH[math.remainder] = "aten::mathremainder"
_CMATH_NAMES: Final = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "isfinite", "isinf", "isnan",
    "log", "log10", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
_MATH.update({getattr(cmath, name): f"aten::{name}" for name in _CMATH_NAMES})
_MATH.update({cmath.phase: "aten::angle", cmath.rect: "aten::polar"})


def to_sugared(em: Emitter, obj: Any, range: SourceRange, name: str) -> SugaredValue:
    """Convert a Python object from the enclosing scope to a sugared value."""
    if isinstance(obj, SugaredValue):  # the resolver of printed source returns sugared values
        return obj
    # Scripts ignore `__torch_function__`: compile the function that the Overridable wraps.
    if isinstance(obj, Overridable):
        obj = obj.__wrapped__
    if isinstance(obj, ModuleType):
        return PythonModule(obj)
    if isinstance(obj, Enum):
        return enum_constant(em, obj, range)
    # Instances of subclasses, such as numpy.float64, are not constants. Therefore, compare classes exactly.
    if obj is None or type(obj) in (bool, int, float, complex, str):
        return SimpleValue(em.constant(obj, range))
    if isinstance(obj, DType | layout | memory_format):
        return SimpleValue(em.constant(obj.code, range))
    if isinstance(obj, ClassType):
        return ClassValue(obj)
    if obj is collections.OrderedDict:  # scripts use `dict`, which also keeps the insertion order
        return GLOBALS["dict"]
    if isinstance(obj, type):
        return _of_class(em, obj, range, name)
    special = _special(obj)
    if special is not None:
        return special
    if inspect.ismethod(obj) and obj.__name__ == "apply" and python_functions.is_function_class(obj.__self__):
        return python_functions.AppliedFunction(obj.__self__)
    if has_attribute(type(obj), "ensure_compiled"):
        return FunctionValue(obj)
    if isinstance(obj, PythonFunction):
        if is_own(module_of(obj)):
            operator = operator_of(own_name(module_of(obj)), obj.__name__)
            if operator is not None:
                return BuiltinFunction(operator)
        return python_functions.function_value(em, obj, range)
    # Do not use the operator with the name of a builtin of the standard library: `math.dist` is not
    # `aten::dist`. `__module__` is None for a bound method such as `random.random`.
    module: Any = getattr(obj, "__module__", None)
    if inspect.isbuiltin(obj) and (module is None or module in sys.stdlib_module_names):
        return python_functions.object_value(em, obj, range)
    # An attribute of an object of the user can have any type.
    object_name: Any = getattr(obj, "qualified_name", None) or getattr(obj, "__name__", None)
    module_name = getattr(obj, "__module__", None) or "ts"
    if isinstance(object_name, str) and callable(obj) and is_own(module_name):
        builtin_name = object_name if "::" in object_name else operator_of("ts", object_name)
        if builtin_name is not None and registry.lookup(builtin_name):
            return BuiltinFunction(builtin_name)
    if isinstance(obj, Namespace | Packet):
        return OperatorNamespace(obj)
    if not _is_mutable(obj):
        # `obj` may be, for example, a tuple of numbers, a device or a tensor.
        value = em.graph.try_insert_constant(obj, range)
        if value is not None:
            return SimpleValue(value)
    return python_functions.object_value(em, obj, range)


def _special(obj: Any) -> SugaredValue | None:
    """Return the sugared value of a function or class with a special meaning, or None."""
    try:
        math_operator = _MATH.get(obj)
    except TypeError:  # `obj` is not hashable
        return None
    if math_operator is not None:
        return BuiltinFunction(math_operator)
    form = compile_directives.find_special_form(obj)
    if form:
        return SpecialForm(form)
    if obj is warnings.warn:
        return WarnFunction("aten::warn")
    name = getattr(obj, "__name__", "")
    marker = _MARKERS.get(name)
    if marker is not None and obj is getattr(compile_directives, name, None):
        return marker
    if name in GLOBALS and getattr(builtins, name, None) is obj:
        return GLOBALS[name]
    return None


def _of_class(em: Emitter, cls: type, range: SourceRange, name: str) -> SugaredValue:
    cls = cls.__dict__.get("__ts_script_class__", cls)
    if python_functions.is_function_class(cls):
        return python_functions.FunctionClass(cls)
    if own_name(module_of(cls)) == "ts.autograd.grad_mode" and "__ts_name__" not in vars(cls):
        # If no operator has the name of the class, as for `inference_mode`, a call raises CompilationError.
        return BuiltinFunction(f"aten::{cls.__name__}")
    if issubclass(cls, BaseException):
        return ExceptionClass(f"{module_of(cls)}.{cls.__qualname__}")
    if getattr(builtins, cls.__name__, None) is cls and cls.__name__ in GLOBALS:
        return GLOBALS[cls.__name__]
    if issubclass(cls, RRefValue):  # scripts cannot create RRefs
        raise CompilationError(BARE["RRef"], range)
    if issubclass(cls, tuple) and has_attribute(cls, "_fields"):
        type_ = object_type(cls)
        if isinstance(type_, TupleType):
            return NamedTupleConstructor(type_)
    if issubclass(cls, Enum):
        return EnumClassValue(cls)
    if any(own_name(module_of(base)) == "ts.nn.modules.module" for base in cls.__mro__):
        if isinstance(vars(cls).get(ATTRIBUTE), InterfaceType):
            raise FrontendError(f"Cannot instantiate class '{cls.__name__}' in a script function", range)
        return ModuleClass(cls, name)
    if own_name(module_of(cls)) == "ts" and cls.__name__ == "Tensor":
        return TensorClass()
    if cls.__name__ in ("device", "Generator"):
        return BuiltinFunction(f"aten::{cls.__name__}")
    if cls.__flags__ & IMMUTABLE_TYPE_FLAG:  # classes implemented in C, such as set and map
        if is_own(module_of(cls)):
            return BuiltinFunction(f"aten::{cls.__name__}")
        return python_functions.object_value(em, cls, range)
    return class_of(em, cls, range)


def _is_mutable(obj: object) -> bool:
    """Return whether `obj` is a list or dict, or a tuple that contains one.

    Such an object cannot be a constant, because all calls would share the object.
    """
    return isinstance(obj, list | dict) or (isinstance(obj, tuple) and any(map(_is_mutable, obj)))


_BUILTIN_OPERATORS: Final = {
    "len": "aten::len", "hex": "aten::hex", "oct": "aten::oct", "round": "aten::round", "hash": "aten::hash",
    "id": "prim::id", "min": "prim::min", "max": "prim::max", "abs": "prim::abs", "all": "aten::all",
    "any": "aten::any", "divmod": "aten::divmod", "sum": "aten::sum", "ord": "aten::ord", "chr": "aten::chr",
    "bin": "aten::bin", "pow": "aten::pow", "sorted": "aten::sorted", "rangelist": "prim::rangelist",
}  # fmt: skip

# Builtin functions that a script class can implement by a magic method, such as `len` by `__len__`.
_MAGIC: Final = frozenset({"len", "hex", "oct", "round", "abs", "hash", "divmod", "pow", "bin"})
_SPECIAL_FORMS: Final = (
    "tuple", "list", "dict", "range", "zip", "enumerate", "reversed", "slice", "isinstance", "getattr",
    "hasattr",
)  # fmt: skip

# Sugared values of the functions in `ts.frontend.compile_directives`.
_MARKERS: Final[dict[str, SugaredValue]] = {
    "annotate": SpecialForm("annotate"),
    "fork": SpecialForm("fork"),
    "isinstance": SpecialForm("isinstance"),
    "is_scripting": BuiltinFunction("aten::is_scripting"),
    "is_tracing": BuiltinFunction("aten::_get_tracing_state"),
    "unwrap_optional": BuiltinFunction("aten::_unwrap_optional"),
    "wait": BuiltinFunction("aten::wait"),
}

# Builtin names, which variables may shadow.
GLOBALS: Final[dict[str, SugaredValue]] = {
    "print": PrintValue(),
    "breakpoint": BreakpointValue(),
    "int": CastValue(INT, "aten::Int"),
    "float": CastValue(FLOAT, "aten::Float"),
    "bool": CastValue(BOOL, "aten::Bool"),
    "str": CastValue(STR, "aten::str"),
    "complex": CastValue(COMPLEX, "aten::Complex"),
    "AssertionError": AssertionFailure("AssertionError"),
    **{form: SpecialForm(form) for form in _SPECIAL_FORMS},
    **{
        name: BuiltinFunction(operator, magic=f"__{name}__" if name in _MAGIC else "")
        for name, operator in _BUILTIN_OPERATORS.items()
    },
}
