"""Conversion of tree specs to JSON and back, in the format of `torch.export`.

The example converts the spec of a tuple that contains an empty tuple:

>>> from ts.utils._pytree_specs import flatten
>>> text = treespec_dumps(flatten(((),))[1])
>>> text[:62]
'[1, {"type": "builtins.tuple", "context": "null", "children_sp'
>>> treespec_loads(text)
TreeSpec(tuple, None, [TreeSpec(tuple, None, [])])
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, TypeGuard

import optree

from ts.utils._pytree_nodes import (
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
    DumpableContext,
)
from ts.utils._pytree_specs import _LEAF_SPEC, TreeSpec, flatten

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


class EnumEncoder(json.JSONEncoder):
    """JSON encoder that writes members of enums with module, class and name."""

    def default(self, obj: object) -> Any:
        if not isinstance(obj, Enum):
            return super().default(obj)
        cls = obj.__class__
        return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": obj.name}


def enum_object_hook(obj: dict[str, Any]) -> Enum | dict[str, Any]:
    """Decode an enum member written by `EnumEncoder`. Return other dictionaries unchanged."""
    if "__enum__" not in obj:
        return obj
    module, _, path = obj["fqn"].partition(":")
    enum_class: Any = functools.reduce(getattr, path.split("."), importlib.import_module(module))
    member: Enum = enum_class[obj["name"]]
    return member


@dataclasses.dataclass
class _TreeSpecSchema:
    """Tree spec in JSON: `type` is the registered name of the node type, or None for a leaf."""

    type: str | None
    context: DumpableContext
    children_spec: list[_TreeSpecSchema]


class _ProtocolFn(NamedTuple):
    """Functions that write and read one version of the JSON format of tree specs."""

    treespec_to_json: Callable[[TreeSpec], DumpableContext]
    json_to_treespec: Callable[[DumpableContext], TreeSpec]


def _treespec_to_json(treespec: TreeSpec) -> _TreeSpecSchema:
    if treespec.is_leaf():
        return _TreeSpecSchema(None, None, [])
    definition = SUPPORTED_SERIALIZED_TYPES.get(treespec.type)
    if definition is None:
        raise NotImplementedError(f"Serializing {treespec.type} in pytree is not registered.")
    if definition.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(
            f"No registered serialization name for {treespec.type} found. "
            "Please update your _register_pytree_node call with a `serialized_type_name` kwarg."
        )
    if definition.to_dumpable_context is not None:
        context = definition.to_dumpable_context(treespec.context)
    else:
        try:
            context = json.dumps(treespec.context, cls=EnumEncoder)
        except TypeError as error:
            raise TypeError(
                "Unable to serialize context. Please make the context json dump-able, or register a "
                "custom serializer using _register_pytree_node."
            ) from error
    children = [_treespec_to_json(child) for child in treespec.children()]
    return _TreeSpecSchema(definition.serialized_type_name, context, children)


def _json_to_treespec(json_schema: DumpableContext) -> TreeSpec:
    name, context, children = (json_schema[field] for field in ("type", "context", "children_spec"))
    if name is None and context is None and len(children) == 0:
        return _LEAF_SPEC
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
    from_dumpable = SUPPORTED_SERIALIZED_TYPES[cls].from_dumpable_context
    if from_dumpable is not None:
        context = from_dumpable(context)
    else:
        try:
            context = json.loads(context, object_hook=enum_object_hook)
        except TypeError as error:
            raise TypeError(
                "Unable to deserialize context. Please make the context json load-able, or register a "
                "custom serializer using _register_pytree_node."
            ) from error
    return TreeSpec(cls, context, [_json_to_treespec(child) for child in children])


_SUPPORTED_PROTOCOLS: dict[int, _ProtocolFn] = {1: _ProtocolFn(_treespec_to_json, _json_to_treespec)}


def _protocol(version: int) -> _ProtocolFn:
    if version not in _SUPPORTED_PROTOCOLS:
        raise ValueError(f"Unknown protocol {version}. Available protocols: {list(_SUPPORTED_PROTOCOLS)}")
    return _SUPPORTED_PROTOCOLS[version]


def _is_pytreespec_instance(obj: Any) -> TypeGuard[TreeSpec | optree.PyTreeSpec]:
    return isinstance(obj, TreeSpec | optree.PyTreeSpec)


def _ensure_python_treespec_instance(treespec: TreeSpec | optree.PyTreeSpec) -> TreeSpec:
    """Convert an optree spec to a `TreeSpec`. Return a `TreeSpec` unchanged."""
    if isinstance(treespec, TreeSpec):
        return treespec
    if not _is_pytreespec_instance(treespec):
        raise TypeError(
            f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
        )
    return flatten(treespec.unflatten([0] * treespec.num_leaves))[1]


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Serialize a spec to JSON."""
    treespec = _ensure_python_treespec_instance(treespec)
    if protocol is None:
        protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL
    schema = _protocol(protocol).treespec_to_json(treespec)
    return json.dumps((protocol, dataclasses.asdict(schema)), cls=EnumEncoder)


@functools.lru_cache
def treespec_loads(serialized: str) -> TreeSpec:
    """Deserialize a spec written by `treespec_dumps`."""
    protocol, schema = json.loads(serialized)
    return _protocol(protocol).json_to_treespec(schema)
