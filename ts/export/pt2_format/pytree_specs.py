"""Pytree specs of arguments and results in `.pt2` archives, and paths of their leaves.

Each line shows a call and its result:

    read('[1, {"type": "builtins.tuple", "context": "null", "children_spec": [...]}')     a TreeSpec
    paths(spec)            [(PathEntry(position=0, key=None), ...), ...], one path for each leaf

A type is looked up by its registered name, and never imported.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ts.errors import ArchiveError
from ts.export.pt2_format import json_codec
from ts.utils import _pytree as pytree
from ts.utils._pytree_nodes import (
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
    is_namedtuple_class,
)
from ts.utils._pytree_specs import treespec_leaf

_FACTORIES: Final = {"list": list, "dict": dict, "int": int, "float": float, "set": set, "tuple": tuple}
_DICTIONARIES: Final = (dict, OrderedDict)


def read(text: str) -> Any:
    """Parse a serialized TreeSpec."""
    match json_codec.parse(text, "a tree of arguments"):
        case [1, tree]:
            return _spec(tree)
        case [int(version), _]:
            raise ArchiveError(f"a tree of arguments has the unsupported version {version}")
    raise ArchiveError("a tree of arguments has no version")


def _spec(written: Any) -> Any:
    match written:
        case {"type": None, "context": None, "children_spec": []}:
            return treespec_leaf()
        case {"type": str(name), "context": context, "children_spec": list(children)}:
            cls = SERIALIZED_TYPE_TO_PYTHON_TYPE.get(name)
            if cls is None or name == NO_SERIALIZED_TYPE_NAME_FOUND:
                raise ArchiveError(
                    f"arguments have the type {name[:80]!r}, which is not registered: use "
                    "ts.utils._pytree.register_pytree_node or ts.export.register_dataclass with this "
                    "serialized_type_name"
                )
            child_specs = list(map(_spec, children))
            return pytree.TreeSpec(cls, _context(cls, context, len(child_specs)), child_specs)
    raise ArchiveError("a tree of arguments is malformed")


def _context(cls: Any, written: Any, count: int) -> Any:
    """Decode the context of a pytree node. It contains data besides the children, such as dictionary keys."""
    if cls is namedtuple:
        named_tuple_class = SERIALIZED_TYPE_TO_PYTHON_TYPE.get(written) if isinstance(written, str) else None
        if named_tuple_class is None or not is_namedtuple_class(named_tuple_class):
            raise ArchiveError(f"arguments have a named tuple {str(written)[:80]!r}, which is not registered")
        if len(named_tuple_class._fields) != count:
            raise ArchiveError(
                f"the fields of the named tuple {written[:80]!r} differ from those of the registered class"
            )
        return named_tuple_class
    if cls is defaultdict:
        return _default_context(written, count)
    parsed = json_codec.parse(written, "a tree of arguments") if isinstance(written, str) else written
    read = SUPPORTED_SERIALIZED_TYPES[cls].from_dumpable_context
    if read is not None:  # the class was registered with a function that decodes its context
        return read(written)
    if cls in _DICTIONARIES:
        return _keys(parsed, count)
    if cls is deque:
        if parsed is not None and (type(parsed) is not int or parsed < 0):
            raise ArchiveError("a deque has an invalid maximal length")
    elif cls in (tuple, list) and parsed is not None:
        raise ArchiveError("a list or tuple has an unexpected context")
    return parsed


def _keys(parsed: Any, count: int) -> list[Any]:
    if not isinstance(parsed, list) or len(parsed) != count:
        raise ArchiveError("the numbers of keys and values of a dictionary differ")
    for key in parsed:
        if key is not None and not isinstance(key, str | int | float | bool):
            raise ArchiveError("a dictionary has a key that is neither a string nor a number")
    if len(set(parsed)) != count:
        raise ArchiveError("a dictionary has a duplicate key")
    return parsed


def _default_context(written: Any, count: int) -> list[Any]:
    match written:
        case {
            "default_factory_module": "builtins",
            "default_factory_name": str(name),
            "dict_context": keys,
        } if name in _FACTORIES:
            return [_FACTORIES[name], _keys(keys, count)]
    raise ArchiveError("the default factory of a defaultdict is not allowed")


def write(spec: Any) -> str:
    """Serialize a TreeSpec."""
    try:
        return pytree.treespec_dumps(spec)
    except (NotImplementedError, TypeError) as error:
        raise ArchiveError(f"the program cannot be saved: {error}") from error


def named_tuples(*specs: Any) -> dict[str, list[str]]:
    """Return a dictionary for the named tuple classes in `specs`: serialized class name -> field names."""
    field_names = {}
    waiting = list(specs)
    while waiting:
        spec = waiting.pop()
        if spec.is_leaf():
            continue
        if spec.type is namedtuple:
            field_names[SUPPORTED_SERIALIZED_TYPES[spec.context].serialized_type_name] = list(
                spec.context._fields
            )
        waiting += spec.children()
    return field_names


# ---- paths of leaves ---------------------------------------------------------------------------------


class PathEntry(NamedTuple):
    """Step of a path in a pytree: index of the child, and its key or attribute name."""

    position: int
    key: Any = None
    is_attribute: bool = False

    def __str__(self) -> str:
        if self.is_attribute:
            return f".{self.key}"
        return f"[{self.position if self.key is None else self.key!r}]"


def paths(spec: Any) -> Iterator[tuple[PathEntry, ...]]:
    """Yield the path of each leaf, in order."""
    if spec.is_leaf():
        yield ()
        return
    for entry, child in zip(_path_entries(spec), spec.children(), strict=True):
        for path in paths(child):
            yield (entry, *path)


def _path_entries(spec: Any) -> list[PathEntry]:
    kind, context, count = spec.type, spec.context, spec.num_children
    if kind in _DICTIONARIES:
        return [PathEntry(i, key) for i, key in enumerate(context)]
    if kind is defaultdict:
        return [PathEntry(i, key) for i, key in enumerate(context[1])]
    if kind is namedtuple:
        return [PathEntry(i, name, True) for i, name in enumerate(context._fields)]
    if kind not in (tuple, list, deque) and _is_of_fields(context, count):
        return [PathEntry(i, name, True) for i, name in enumerate(context[0])]
    return [PathEntry(i) for i in range(count)]


def _is_of_fields(context: Any, count: int) -> bool:
    """Return True if `context` has the form of a dataclass context.

    Such a context is a list of two lists: the names of present fields, and the names of absent fields.
    """
    return (
        isinstance(context, list)
        and len(context) == 2
        and all(isinstance(x, list) for x in context)
        and len(context[0]) == count
    )


def argument_paths(spec: Any, names: list[str] | None) -> list[tuple[str, tuple[PathEntry, ...]]]:
    """Return (argument name, path within the argument) for each leaf of (args, kwargs)."""
    leaf_paths = []
    for path in paths(spec):
        if len(path) < 2:
            raise ArchiveError("the tree of arguments is not a pair of positional and keyword arguments")
        group, argument, *rest = path
        if group.position == 1:
            name = str(argument.key)
        elif names is not None and argument.position < len(names):
            name = names[argument.position]
        else:
            name = f"args_{argument.position}"
        leaf_paths.append((name, tuple(rest)))
    return leaf_paths


def check_arguments(spec: Any) -> None:
    """Raise ArchiveError if the structure of a tree is not that of (args, kwargs)."""
    match spec.type, [child.type for child in spec.children()]:
        case (_, [args, kwargs]) if spec.type is tuple and args is tuple and kwargs is dict:
            return
    raise ArchiveError("the tree of arguments is not a pair of positional and keyword arguments")


__all__ = ["PathEntry", "argument_paths", "check_arguments", "named_tuples", "paths", "read", "write"]
