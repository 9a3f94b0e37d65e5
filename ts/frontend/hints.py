"""Hints for error messages: one sentence on how to fix the program, printed after the source location.

Input: values and types of an error. Output: a hint, or "" if no hint is known. Two messages with hints:

    undefined value nmae:                                  Optional[int] used as int:
      File "x.py", line 3                                    ...
        return nmae                                        Hint: the value may be None; test it with
               ~~~~ <--- HERE                              `is not None` before, so that its type is known
    Hint: did you mean 'name'?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ts.errors import closest, no_such_argument
from ts.ir.source import SourceRange
from ts.ir.types import (
    NONE,
    STR,
    TENSOR,
    BoolType,
    DictType,
    FloatType,
    IntType,
    ListType,
    OptionalType,
    TensorType,
    Type,
)
from ts.ir.value import Value

_MAY_BE_NONE = "the value may be None; test it with `is not None` first, which refines its type"
_ELEMENT_OPERATORS = frozenset({"aten::__getitem__", "prim::TupleIndex"})
_OTHER_WORDS = {
    "push": "`append`",
    "add": "`append`",
    "length": "`len(x)`",
    "size": "`len(x)`",
    "len": "`len(x)`",
    "iteritems": "`items`",
    "itervalues": "`values`",
    "iterkeys": "`keys`",
    "has_key": "`key in d`",
}
_OF_TEXTS = {
    "encode": "scripts have no bytes; `[ord(c) for c in list(s)]` returns the character codes",
    "decode": "scripts have no bytes; `''.join([chr(n) for n in codes])` converts codes to a string",
    "casefold": "write `lower`",
    "format_map": "write `format`, with an argument for each field",
    "isascii": "test each character: `ord(c) < 128`",
    "translate": "write `replace`, once for each character",
    "maketrans": "write `replace`, once for each character",
    "removeprefix": "write `s[len(prefix):] if s.startswith(prefix) else s`",
    "removesuffix": "write `s[:len(s) - len(suffix)] if s.endswith(suffix) else s`",
    "contains": "write `part in s`",
    "substr": "write `s[begin:end]`",
    "substring": "write `s[begin:end]`",
    "trim": "write `strip`",
    "reverse": "write `s[::-1]`",
    "append": "write `s + other`",
}
_TYPES = {
    "string": "str",
    "integer": "int",
    "boolean": "bool",
    "double": "float",
    "number": "float",
    "array": "Tensor",
    "object": "Any",
    "any": "Any",
    "Sequence": "List[int]",
    "Iterable": "List[int]",
    "Mapping": "Dict[str, int]",
    "NoReturn": "None",
    "bytes": "str",
    "dict": "Dict[str, int]",
}
_EMPTY_LIST = "`[]` is a list of tensors unless it is annotated: `x: List[str] = []`"
_EMPTY_DICT = "`{}` is a dict of tensors unless it is annotated: `x: Dict[str, int] = {}`"
_NOT_ANNOTATED = "a parameter without an annotation is a Tensor; annotate it if it is not: `x: int`"


def similar(name: str, candidates: Iterable[str]) -> str:
    """Return "did you mean ...?" with the known name closest to `name` (typo suggestion), or ""."""
    match = closest(name, [other for other in candidates if not other.startswith("$")])
    return f"did you mean '{match}'?" if match else ""


def class_attribute(name: str) -> str:
    """Return the hint for a read of attribute `name`, which the class defines but the object does not."""
    return (
        f"'{name}' is an attribute of the class: assign it in `__init__` (`self.{name} = ...`), or make it a "
        f"constant, `{name}: Final[int] = ...`"
    )


def not_annotated(value: Value) -> str:
    """Return the hint to annotate a parameter, or "" if the type of `value` is declared.

    A parameter without annotation has the inferred type Tensor.
    """
    type = value.type()
    return _NOT_ANNOTATED if isinstance(type, TensorType) and type.inferred else ""


def standard_library(name: str) -> str:
    """Return the hint for a function of Python's standard library without a script counterpart."""
    return (
        f"`{name}` is a Python function that scripts cannot call: use a function of ts (`ts.randint`, "
        "`math`), or call it in an @ts.jit.ignore function"
    )


def may_be_none(value: Value) -> str:
    """Return the hint for an Optional value used without a None check."""
    node = value.node()
    if node.kind() == "prim::GetAttr":
        name = node["name"]
        return (
            "the attribute may be None, and a test does not refine the type of an attribute: assign "
            f"it to a variable, `{name} = self.{name}`, and test that"
        )
    if node.kind() == "aten::get":
        return "pass a default for missing keys, `d.get(key, value)`, or test the result"
    if node.kind() in _ELEMENT_OPERATORS:
        return (
            "the item may be None, and a test does not refine the type of an item: assign it to "
            "a variable, and test that"
        )
    return _MAY_BE_NONE


def keyword(name: str, parameter_names: Iterable[str], message: str) -> str:
    """Return the hint for an unknown keyword argument, with the closest known name."""
    if f"Keyword argument {name} unknown" in message:
        return similar(name, parameter_names)
    return no_such_argument(name, [other for other in parameter_names if not other.startswith("$")])


def argument(values: Sequence[Value], reason: str) -> str:
    """Return the hint for a call with mismatched arguments, selected by the mismatch text `reason`."""
    mismatched = [value for value in values if f"found type '{value.type().repr_str}'" in reason]
    for value in mismatched:
        if isinstance(value.type(), OptionalType):
            return may_be_none(value)
    for value in mismatched:
        type = value.type()
        if isinstance(type, TensorType) and type.inferred:
            return _NOT_ANNOTATED
        if isinstance(type, DictType) and type.value is TENSOR:
            return _EMPTY_DICT
    if "Type variable 't' previously matched to type Tensor is matched" in reason:
        return _EMPTY_LIST
    untyped_match = re.search(r"\nInferred '(\w+)' to be of type 'Tensor'", reason)
    if untyped_match and mismatched:
        spelling = _spelled(mismatched[0])
        return f"annotate the parameter where the function is defined: `{untyped_match[1]}: {spelling}`"
    if len(values) != 2:
        return ""
    types = [value.type() for value in values]
    if types[0] is STR:
        annotation_hint = not_annotated(values[1])
        if annotation_hint:
            return annotation_hint
        if "aten::mul" in reason:
            return "`*` does not repeat strings: use `''.join([s for _ in range(n)])`"
    if isinstance(types[0], ListType) and not isinstance(types[1], ListType) and "matched to type" in reason:
        return f"the elements of a {_spelled(values[0])} must have type {types[0].elem.annotation_str}"
    if reason.count("Expected a value") < 2:  # the message already names the only wrong argument
        return ""
    hint = f"found {_spelled(values[0])} and {_spelled(values[1])}"
    if STR in types and any(isinstance(type, IntType | FloatType | BoolType) for type in types):
        hint += "; `str(x)` converts a number to a string"
    return hint


def _spelled(value: Value) -> str:
    return value.type().annotation_str


def attribute(value: Value, name: str, attribute_names: Iterable[str]) -> str:
    """Return the hint for a missing attribute or method of a value."""
    type = value.type()
    if value.node().kind() == "prim::PythonOp" and value.node()["name"] == "super":
        return "scripts do not support `super()`: call an inherited method with another name"
    if name in ("numpy", "__array__"):
        return "scripts do not support NumPy arrays; use tensors, or an @ts.jit.ignore function"
    if type is STR and name in _OF_TEXTS:
        return _OF_TEXTS[name]
    replacement = _OTHER_WORDS.get(name)
    if replacement is not None and not isinstance(type, TensorType):
        return f"write {replacement}"
    return similar(name, attribute_names)


def undefined(name: str, defined_names: Iterable[str], self_attributes: Iterable[str] = ()) -> str:
    """Return the hint for an undefined name."""
    if name in self_attributes:
        return f"did you mean 'self.{name}'?"
    if name in ("np", "numpy", "pd", "random", "os", "sys", "re", "json", "time", "math", "copy"):
        return (
            "import it at the top of the file; of modules other than math and torch only functions that "
            "an @ts.jit.ignore function calls can be used"
        )
    return similar(name, defined_names)


def conversion(actual: Type, expected: Type, value: Value | None = None) -> str:
    """Return the hint for a value of type `actual` used where type `expected` is required."""
    if isinstance(actual, OptionalType):
        return _MAY_BE_NONE if value is None else may_be_none(value)
    if isinstance(actual, TensorType) and actual.inferred:
        return _NOT_ANNOTATED
    if actual is NONE:
        return f"annotate a value that may be None: `Optional[{expected.annotation_str}]`"
    return f"convert the value, or write the type `{actual.annotation_str}`"


def type_name(name: str, type_names: Iterable[str]) -> str:
    """Return the hint for an unknown type name."""
    last = name.rpartition(".")[2]
    if last in ("ndarray", "array"):
        return "arrays are tensors in scripts: `Tensor`"
    if last in ("Set", "set", "FrozenSet"):
        return "scripts do not support sets; use the keys of a dict"
    if last == "Callable":
        return "functions cannot be values; call them by name, or pass an object with a method"
    if last in ("Iterator", "Generator"):
        return "scripts do not support generators; create a list"
    if last == "Literal":
        return "write the type of the literals"
    if last == "Module":
        return "modules cannot be parameters; make it an attribute of the calling module"
    return f"write `{_TYPES[last]}`" if last in _TYPES else similar(last, type_names)


def default(name: str, value: object, type: Type, inferred: bool) -> str:
    """Return the hint for a default whose type differs from its parameter's type."""
    if value is None:
        return f"annotate a value that may be None: `{name}: Optional[{type.annotation_str}] = None`"
    if inferred:
        return f"annotate it: `{name}: {value.__class__.__name__}`"
    return f"write a default of type {type.annotation_str}, or annotate `{name}: {value.__class__.__name__}`"


def return_type_conflict(earlier_type: Type, later_type: Type, earlier_range: SourceRange | None) -> str:
    """Return the hint for a return type that differs from an earlier `return` at `earlier_range`."""
    union = f"Union[{earlier_type.annotation_str}, {later_type.annotation_str}]"
    advice = f"return one type everywhere, or annotate both: `-> {union}`"
    if earlier_range is None:
        return advice
    first = earlier_range.text().split("\n")[0]
    return f"the {earlier_type.annotation_str} is from line {earlier_range.line}, `{first}`; {advice}"


def reassignment(name: str, earlier_type: Type, later_type: Type) -> str:
    """Return the hint for a variable reassigned with another type in a branch or loop."""
    if later_type is NONE:
        return f"annotate the first assignment: `{name}: Optional[{earlier_type.annotation_str}] = ...`"
    if earlier_type is NONE:
        return f"annotate the first assignment: `{name}: Optional[{later_type.annotation_str}] = None`"
    return "a variable keeps its type in branches and loops; use another name, or convert the value"
