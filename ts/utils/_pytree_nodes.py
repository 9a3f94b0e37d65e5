"""Registry of pytree node types: PyTorch's table, synchronized with optree's registry.

`SUPPORTED_NODES` contains the flatten function of each node type:

>>> tree_is_leaf([1]), tree_is_leaf(None)
(False, True)
>>> SUPPORTED_NODES[list].flatten_fn([1, 2])
([1, 2], None)

Objects of other types are leaves, as in PyTorch. optree has further builtin node types. `leaf_rule`
therefore tells optree which objects are leaves. `NAMESPACE` is the namespace of the types in optree.
"""

from __future__ import annotations

import dataclasses
import importlib
import threading
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, Final, Generic, NamedTuple, NoReturn, Protocol, TypeAlias, TypeVar

import optree

from ts._core.dispatch import result_tuples
from ts._core.tensor.size import Size
from ts.module_names import own_name

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

Context: TypeAlias = Any
PyTree: TypeAlias = Any
FlattenFn: TypeAlias = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFn: TypeAlias = Callable[[Iterable[Any], Context], PyTree]
DumpableContext: TypeAlias = Any
ToDumpableContextFn: TypeAlias = Callable[[Context], DumpableContext]
FromDumpableContextFn: TypeAlias = Callable[[DumpableContext], Context]

NAMESPACE: Final = "ts"
NO_SERIALIZED_TYPE_NAME_FOUND = "NO_SERIALIZED_TYPE_NAME_FOUND"

# Let optree flatten dictionaries in insertion order, in the whole process.
_order_of_keys = optree.dict_insertion_ordered(True, namespace=NAMESPACE)
_order_of_keys.__enter__()


class KeyEntry(Protocol):
    """Step of a key path from the root of a tree to a leaf."""

    def __hash__(self) -> int: ...

    def __eq__(self, other: object) -> bool: ...

    def __str__(self) -> str: ...

    def get(self, parent: Any) -> Any: ...


KeyPath: TypeAlias = tuple[KeyEntry, ...]
FlattenWithKeysFn: TypeAlias = Callable[[PyTree], tuple[list[tuple[KeyEntry, Any]], Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class SequenceKey(Generic[T]):
    """Step of a key path: index in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[T]) -> T:
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True, slots=True)
class MappingKey(Generic[K, T]):
    """Step of a key path: key of a mapping."""

    key: K

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[K, T]) -> T:
        return mapping[self.key]


@dataclasses.dataclass(frozen=True, slots=True)
class GetAttrKey:
    """Step of a key path: name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """Functions that flatten and unflatten objects of a node type."""

    type: type[Any]
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None


class _SerializeNodeDef(NamedTuple):
    """Name of a node type in JSON, and functions that convert contexts of the type to JSON and back."""

    typ: type[Any]
    serialized_type_name: str
    to_dumpable_context: ToDumpableContextFn | None
    from_dumpable_context: FromDumpableContextFn | None


def _is_results_class(cls: Any) -> bool:
    """Return True for a class of `torch.return_types`, which is a struct sequence in PyTorch."""
    results_module = own_name(result_tuples.__name__)
    return isinstance(cls, type) and issubclass(cls, tuple) and own_name(cls.__module__) == results_module


def is_namedtuple_class(cls: type) -> bool:
    """Return True for a named tuple class and its subclasses."""
    return optree.is_namedtuple_class(cls) and not _is_results_class(cls)


def is_namedtuple_instance(obj: object) -> bool:
    """Return True if the object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object | type) -> bool:
    """Return True if the object is a named tuple instance or class."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


Py_TPFLAGS_BASETYPE: int = 1 << 10  # bit of `type.__flags__`: subclasses are allowed


class structseq(tuple[T, ...]):
    """Type of struct sequences, for annotations."""

    __slots__: ClassVar[tuple[()]] = ()

    n_fields: Final[int]  # type: ignore[misc]
    n_sequence_fields: Final[int]  # type: ignore[misc]
    n_unnamed_fields: Final[int]  # type: ignore[misc]

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("type 'structseq' is not an acceptable base type")

    def __new__(cls, sequence: Iterable[T], dict: dict[str, Any] = ...) -> structseq[T]:  # type: ignore[assignment]
        raise NotImplementedError


def is_structseq_class(cls: type) -> bool:
    """Return True for a struct sequence of Python, and for a result class of an operator."""
    return optree.is_structseq_class(cls) or _is_results_class(cls)


def is_structseq_instance(obj: object) -> bool:
    """Return True if the object is a struct sequence."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object | type) -> bool:
    """Return True if the object is a struct sequence instance or class."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


STANDARD_DICT_TYPES: frozenset[type] = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES: frozenset[Any] = STANDARD_DICT_TYPES | {tuple, list, namedtuple, deque}

_NODE_REGISTRY_LOCK = threading.RLock()


class _Nodes(dict[Any, NodeDef]):
    """Table of node types. Setting or deleting an entry also changes optree's registry."""

    def __setitem__(self, cls: Any, node: NodeDef) -> None:
        if cls in BUILTIN_TYPES and cls in self:
            # optree cannot replace its builtin node types.
            raise ValueError(f"{cls} is built in and cannot be registered again as a pytree node.")
        if cls not in self and self._is_custom(cls):
            with warnings.catch_warnings():
                # optree warns about struct sequences, because it supports them without registration
                warnings.simplefilter("ignore")
                optree.register_pytree_node(
                    cls, self._flatten(cls), self._unflatten(cls), namespace=NAMESPACE
                )
        super().__setitem__(cls, node)

    def __delitem__(self, cls: Any) -> None:
        if cls in BUILTIN_TYPES:
            raise ValueError(f"{cls} is built in and cannot be removed from the pytree nodes.")
        super().__delitem__(cls)
        if self._is_custom(cls):
            optree.unregister_pytree_node(cls, namespace=NAMESPACE)

    def pop(self, cls: Any, *default: Any) -> Any:
        if cls not in self:
            return super().pop(cls, *default)
        node = self[cls]
        del self[cls]
        return node

    # These methods of `dict` would bypass the methods above, and thus not update optree's registry.
    popitem = MutableMapping.popitem
    clear = MutableMapping.clear
    update = MutableMapping.update  # type: ignore[assignment]
    setdefault = MutableMapping.setdefault

    def _is_custom(self, cls: Any) -> bool:
        """Return True if the type must be registered with optree.

        Builtin types and named tuples need no registration.
        """
        return isinstance(cls, type) and cls not in BUILTIN_TYPES and not is_namedtuple_class(cls)

    def _flatten(self, cls: type[Any]) -> Callable[[Any], tuple[Any, Context]]:
        def flatten(node: Any) -> tuple[Any, Context]:
            children, context = self[cls].flatten_fn(node)
            return tuple(children), context

        return flatten

    def _unflatten(self, cls: type[Any]) -> Callable[[Context, Any], Any]:
        return lambda context, children: self[cls].unflatten_fn(list(children), context)


SUPPORTED_NODES: dict[Any, NodeDef] = _Nodes()
SUPPORTED_SERIALIZED_TYPES: dict[Any, _SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()


def _private_register_pytree_node(
    cls: Any,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Register a node type. Warn if this replaces a registration."""
    with _NODE_REGISTRY_LOCK:
        if cls in SUPPORTED_NODES:
            warnings.warn(
                f"{cls} is already registered as pytree node. Overwriting the previous registration.",
                stacklevel=2,
            )
        SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
        if (to_dumpable_context is None) != (from_dumpable_context is None):
            raise ValueError(
                f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered."
            )
        name = NO_SERIALIZED_TYPE_NAME_FOUND if serialized_type_name is None else serialized_type_name
        SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(
            cls, name, to_dumpable_context, from_dumpable_context
        )
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def _deregister_pytree_node(cls: type[Any]) -> None:
    """Remove a node type from the registry."""
    with _NODE_REGISTRY_LOCK:
        del SUPPORTED_NODES[cls]
        name = SUPPORTED_SERIALIZED_TYPES.pop(cls).serialized_type_name
        del SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
        CONSTANT_NODES.discard(cls)


def _get_node_type(tree: Any) -> Any:
    """Return the key in `SUPPORTED_NODES` for the type of an object."""
    cls = type(tree)
    if is_namedtuple_class(cls):
        return namedtuple
    if _is_results_class(cls) and cls not in SUPPORTED_NODES:
        _register_results_class(cls)
    return cls


def _is_leaf_by_type(tree: Any) -> bool:
    """Return True if objects of the type of `tree` are leaves.

    Equivalent to `_get_node_type(tree) not in SUPPORTED_NODES`, but faster.
    """
    cls = type(tree)
    if cls in SUPPORTED_NODES:
        return False
    return not issubclass(cls, tuple) or _get_node_type(tree) not in SUPPORTED_NODES


def leaf_rule(is_leaf: Callable[[PyTree], bool] | None) -> Callable[[PyTree], bool]:
    """Return the predicate for optree that is True for leaves, by their type or by `is_leaf`."""
    if is_leaf is None:
        return _is_leaf_by_type
    return lambda tree: True if is_leaf(tree) else _is_leaf_by_type(tree)


def tree_is_leaf(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    """Return True if a tree is a leaf.

    >>> tree_is_leaf({"a": 1}), tree_is_leaf({"a": 1}, is_leaf=lambda x: isinstance(x, dict))
    (False, True)
    """
    return leaf_rule(is_leaf)(tree)


def _keyed(values: Iterable[Any], keys: Iterable[KeyEntry]) -> list[tuple[KeyEntry, Any]]:
    return list(zip(keys, values, strict=True))


def _tuple_flatten(d: tuple[Any, ...]) -> tuple[list[Any], Context]:
    return list(d), None


def _tuple_flatten_with_keys(d: tuple[Any, ...]) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return _keyed(d, map(SequenceKey, range(len(d)))), None


def _tuple_unflatten(values: Iterable[Any], context: Context) -> tuple[Any, ...]:
    return tuple(values)


def _list_flatten(d: list[Any]) -> tuple[list[Any], Context]:
    return d, None


_list_flatten_with_keys: FlattenWithKeysFn = _tuple_flatten_with_keys


def _list_unflatten(values: Iterable[Any], context: Context) -> list[Any]:
    return list(values)


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return _keyed(d.values(), map(MappingKey, d)), list(d)


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _namedtuple_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d), type(d)


def _namedtuple_flatten_with_keys(d: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return _keyed(d, map(GetAttrKey, type(d)._fields)), type(d)


def _namedtuple_unflatten(values: Iterable[Any], context: Context) -> Any:
    return context(*values)


def _namedtuple_serialize(context: Context) -> DumpableContext:
    definition = SUPPORTED_SERIALIZED_TYPES.get(context)
    message = f"Can't serialize TreeSpec of namedtuple class {context} because we "
    advice = "a serializated_type_name. Please register using `_register_namedtuple`."
    if definition is None:
        raise NotImplementedError(f"{message}didn't register {advice}")
    if definition.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(f"{message}couldn't find {advice}")
    return definition.serialized_type_name


def _namedtuple_deserialize(dumpable_context: DumpableContext) -> Context:
    if dumpable_context not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {dumpable_context} "
            "because we couldn't find a serializated name."
        )
    return SERIALIZED_TYPE_TO_PYTHON_TYPE[dumpable_context]


_ordereddict_flatten: FlattenFn = _dict_flatten
_ordereddict_flatten_with_keys: FlattenWithKeysFn = _dict_flatten_with_keys


def _ordereddict_unflatten(values: Iterable[Any], context: Context) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(context, values, strict=True))


_odict_flatten = _ordereddict_flatten
_odict_unflatten = _ordereddict_unflatten


def _defaultdict_flatten(d: defaultdict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), [d.default_factory, list(d)]


def _defaultdict_flatten_with_keys(
    d: defaultdict[Any, Any],
) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return _dict_flatten_with_keys(d)[0], [d.default_factory, list(d)]


def _defaultdict_unflatten(values: Iterable[Any], context: Context) -> defaultdict[Any, Any]:
    default_factory, keys = context
    return defaultdict(default_factory, zip(keys, values, strict=True))


def _defaultdict_serialize(context: Context) -> DumpableContext:
    default_factory, keys = context
    return {
        "default_factory_module": default_factory.__module__,
        "default_factory_name": default_factory.__qualname__,
        "dict_context": keys,
    }


def _defaultdict_deserialize(dumpable_context: DumpableContext) -> Context:
    if not isinstance(dumpable_context, dict):
        raise AssertionError("dumpable_context must be a dict")
    names = ("default_factory_module", "default_factory_name")
    expected = {*names, "dict_context"}
    if set(dumpable_context) != expected:
        raise AssertionError(f"dumpable_context keys must be {expected}, got {set(dumpable_context)}")
    for name in names:
        if not isinstance(dumpable_context[name], str):
            raise AssertionError(f"{name} must be a string")
    module, factory = (dumpable_context[name] for name in names)
    return [getattr(importlib.import_module(module), factory), dumpable_context["dict_context"]]


def _deque_flatten(d: deque[Any]) -> tuple[list[Any], Context]:
    return list(d), d.maxlen


def _deque_flatten_with_keys(d: deque[Any]) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return _keyed(d, map(SequenceKey, range(len(d)))), d.maxlen


def _deque_unflatten(values: Iterable[Any], context: Context) -> deque[Any]:
    return deque(values, maxlen=context)


def _register_results_class(cls: type[Any]) -> None:
    """Register a class of named operator results, unless it is registered."""
    with _NODE_REGISTRY_LOCK:
        if cls not in SUPPORTED_NODES:
            _private_register_pytree_node(
                cls,
                _tuple_flatten,
                lambda values, context: cls(values),
                flatten_with_keys_fn=_tuple_flatten_with_keys,
            )


for _node, _name in (
    (NodeDef(tuple, _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys), "builtins.tuple"),
    (NodeDef(list, _list_flatten, _list_unflatten, _list_flatten_with_keys), "builtins.list"),
    (NodeDef(dict, _dict_flatten, _dict_unflatten, _dict_flatten_with_keys), "builtins.dict"),
    (
        NodeDef(OrderedDict, _ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys),
        "collections.OrderedDict",
    ),
    (NodeDef(deque, _deque_flatten, _deque_unflatten, _deque_flatten_with_keys), "collections.deque"),
    (NodeDef(Size, _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys), "torch.Size"),
):
    _private_register_pytree_node(
        *_node[:3], serialized_type_name=_name, flatten_with_keys_fn=_node.flatten_with_keys_fn
    )
_private_register_pytree_node(
    namedtuple,
    _namedtuple_flatten,
    _namedtuple_unflatten,
    serialized_type_name="collections.namedtuple",
    to_dumpable_context=_namedtuple_serialize,
    from_dumpable_context=_namedtuple_deserialize,
    flatten_with_keys_fn=_namedtuple_flatten_with_keys,
)
_private_register_pytree_node(
    defaultdict,
    _defaultdict_flatten,
    _defaultdict_unflatten,
    serialized_type_name="collections.defaultdict",
    to_dumpable_context=_defaultdict_serialize,
    from_dumpable_context=_defaultdict_deserialize,
    flatten_with_keys_fn=_defaultdict_flatten_with_keys,
)
