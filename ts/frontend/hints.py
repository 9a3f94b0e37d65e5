"""What to write instead: the last line of a message, after the place.

In: what an error is about.  Out: one sentence, or nothing where nothing helpful is known.

    undefined value nmae:                                  Optional[int] where an int is wanted:
      File "x.py", line 3                                    ...
        return nmae                                        Hint: the value may be None; test it with
               ~~~~ <--- HERE                              `is not None` before, so that its type is known
    Hint: did you mean 'name'?
"""

from __future__ import annotations

from collections.abc import Iterable

from ts.ir.types import NONE, TENSOR, DictType, OptionalType, TensorType, Type
from ts.ir.value import Value

_MAY_BE_NONE = "the value may be None; test it with `is not None` before, so that its type is known"
_PARTS = frozenset({"aten::__getitem__", "aten::get", "prim::TupleIndex"})
_EMPTY_LIST = "`[]` is a list of tensors unless its type is written where it is made: `x: List[str] = []`"
_EMPTY_DICT = "`{}` is a dict of tensors unless it is made with its type: `x: Dict[str, int] = {}`"
_NOT_ANNOTATED = "a parameter without an annotation is a Tensor; annotate it if it is not: `x: int`"


def similar(name: str, known: Iterable[str]) -> str:
    """A known name that is spelled like this one."""
    import difflib

    found = difflib.get_close_matches(name, [other for other in known if not other.startswith("$")], 1, 0.7)
    return f"did you mean '{found[0]}'?" if found else ""


def may_be_none(value: Value) -> str:
    """For an optional that is used as what it holds."""
    node = value.node()
    if node.kind() == "prim::GetAttr":
        name = node["name"]
        return (
            "the attribute may be None, and a test of it proves nothing about the next look at it: assign "
            f"it to a variable, `{name} = self.{name}`, and test that"
        )
    if node.kind() in _PARTS:
        return (
            "the item may be None, and a test of it proves nothing about the next look at it: assign it to "
            "a variable, and test that"
        )
    return _MAY_BE_NONE


def argument(values: Iterable[Value], reason: str) -> str:
    """For a call that does not take these arguments, as the reason says."""
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
    return ""


def conversion(found: Type, wanted: Type, value: Value | None = None) -> str:
    """For a value of one type where another is wanted."""
    if isinstance(found, OptionalType):
        return _MAY_BE_NONE if value is None else may_be_none(value)
    if isinstance(found, TensorType) and found.inferred:
        return _NOT_ANNOTATED
    if found is NONE:
        return f"annotate what may be None: `Optional[{wanted.annotation_str}]`"
    return f"convert the value, or write the type `{found.annotation_str}`"


def default(name: str, value: object, type: Type, inferred: bool) -> str:
    """For a default that is not of its parameter's type."""
    if value is None:
        return f"annotate what may be None: `{name}: Optional[{type.annotation_str}] = None`"
    if inferred:
        return f"annotate it: `{name}: {value.__class__.__name__}`"
    return f"write a default of type {type.annotation_str}, or annotate `{name}: {value.__class__.__name__}`"


def reassignment(name: str, before: Type, now: Type) -> str:
    """For a variable that gets another type where both may be seen afterwards."""
    if now is NONE:
        return f"annotate the first assignment: `{name}: Optional[{before.annotation_str}] = ...`"
    if before is NONE:
        return f"annotate the first assignment: `{name}: Optional[{now.annotation_str}] = None`"
    return "a variable keeps its type in branches and loops; use another name, or convert the value"
