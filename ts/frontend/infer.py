"""Type inference for Python values, used for unannotated module attributes.

Each line shows a call and its result:

    infer_type([1, 2])             List[int]
    infer_type({"a": 1.0})         Dict[str, float]
    infer_type([])                 raises TypeInferenceError: "List trace inputs must have elements"
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterable
from typing import Any

from ts import dtypes
from ts._core.tensor.tensor import Tensor
from ts.devices import device as Device
from ts.errors import FrontendError
from ts.frontend.annotations import object_type
from ts.frontend.classes import compile_class
from ts.ir.object_attributes import has_attribute
from ts.ir.types import (
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    STR,
    TENSOR,
    DictType,
    ListType,
    RRefType,
    TupleType,
    Type,
    unify,
)
from ts.ops.rpc_ops import RRefValue


class TypeInferenceError(Exception):
    """Raised for a value without a type in the language. The message contains the reason."""


_SCALARS: dict[type, Type] = {
    bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, str: STR, type(None): NONE, Device: DEVICE,
    dtypes.dtype: INT, dtypes.layout: INT, dtypes.memory_format: INT,
}  # fmt: skip


def builtin_number_class(value: object) -> type | None:
    """Return the class among int, float, complex and str that `value` is an instance of, or None if none is.

    For example, return float for a `numpy.float64`. For members of enums, including `IntEnum`, return None.
    """
    if isinstance(value, enum.Enum):
        return None
    return next((base for base in (int, float, complex, str) if isinstance(value, base)), None)


def infer_type(value: Any) -> Type:
    """Return the script type of a Python value. Raise TypeInferenceError if it has none."""
    return _infer(value, {})


def _infer(value: Any, inferred: dict[int, Type]) -> Type:
    """Infer the type of `value`. `inferred` maps ids of visited containers to their types."""
    if isinstance(value, Tensor):
        return TENSOR
    scalar_type = _SCALARS.get(type(value))
    if scalar_type is not None:
        return scalar_type
    if isinstance(value, RRefValue):
        return RRefType(_infer_rref(value))
    base = builtin_number_class(value)
    if base is not None:
        return _SCALARS[base]
    if not isinstance(value, list | dict | tuple):
        return _infer_instance(value)
    if id(value) not in inferred:
        inferred[id(value)] = _infer_container(value, inferred)
    return inferred[id(value)]


def _infer_rref(value: RRefValue) -> Type:
    """Return the type of the value that an RRef refers to.

    Return the type hint passed when the RRef was created. Without a hint, fetch the value and infer its type.
    """
    hint = value.type_hint
    hinted_type = None if hint is None else object_type(hint)
    return infer_type(value.fetch_async().wait()) if hinted_type is None else hinted_type


def _infer_container(value: list[Any] | dict[Any, Any] | tuple[Any, ...], inferred: dict[int, Type]) -> Type:
    if isinstance(value, list):
        if not value:
            raise TypeInferenceError("List trace inputs must have elements")
        return ListType(_common(value, "List", "element type", inferred))
    if isinstance(value, dict):
        if not value:
            raise TypeInferenceError("Dictionary inputs must have entries")
        keys = _common(value, "Dictionary", "type", inferred)
        return DictType(keys, _common(value.values(), "Dictionary", "type", inferred))
    # Call `tuple.__iter__`, because a subclass may override `__iter__`.
    elements = [_infer(element, inferred) for element in tuple.__iter__(value)]
    if has_attribute(value, "_fields"):
        declared_type = object_type(type(value))
        if declared_type is not None and all(
            element.is_subtype_of(field)
            for element, field in zip(elements, declared_type.contained_types(), strict=True)
        ):
            return declared_type
    return TupleType(elements)


def _common(values: Iterable[Any], container: str, property_name: str, inferred: dict[int, Type]) -> Type:
    """Return the common type of `values`, which are the elements, keys or values of a container.

    Errors contain `container`, "List" or "Dictionary", and `property_name`, such as "element type".
    """
    common_type: Type | None = None
    for value in values:
        try:
            value_type = _infer(value, inferred)
        except TypeInferenceError as error:
            prefix = "Could not infer type of list element: " if container == "List" else ""
            raise TypeInferenceError(f"{prefix}{error}") from None
        unified = value_type if common_type is None else unify(common_type, value_type)
        if unified is None:
            assert common_type is not None
            kinds = f"{common_type.annotation_str} and {value_type.annotation_str}"
            raise TypeInferenceError(
                f"{container} inputs to traced functions must have consistent {property_name}. Found {kinds}"
            )
        common_type = unified
    assert common_type is not None
    return common_type


def _infer_instance(value: Any) -> Type:
    """Return the enum type or script class of a value."""
    cls = type(value)
    if has_attribute(cls, "_modules") or has_attribute(value, "_modules"):
        raise TypeInferenceError("Cannot infer concrete type of torch.nn.Module")
    if isinstance(value, enum.Enum):
        instance_type = object_type(cls)
        if instance_type is not None:
            return instance_type
    elif _may_be_script_class(cls):
        try:
            return compile_class(cls)
        except FrontendError:
            pass  # ignore this error: the error raised below names the class
    raise TypeInferenceError(
        "Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as inputs or "
        f"outputs of traced functions, but instead got value of type {cls.__name__}."
    )


def _may_be_script_class(cls: type) -> bool:
    """Return whether `cls` may be compiled: a plain class with an `__init__` function."""
    return inspect.isfunction(vars(cls).get("__init__")) and cls.__mro__[1:] == (object,)
