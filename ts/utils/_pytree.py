"""Pytrees (tree flattening of nested containers): `torch.utils._pytree`, implemented by optree.

The example flattens and unflattens a tree, maps a function over a tree, and lists the paths of leaves:

>>> leaves, spec = tree_flatten({"a": 1, "b": (2, [None])})
>>> leaves, tree_unflatten([10, 20, 30], spec)
([1, 2, None], {'a': 10, 'b': (20, [30])})
>>> tree_map(lambda x, y: (x, y), [1, 2], ["a", {"b": 3}])
[(1, 'a'), (2, {'b': 3})]
>>> [keystr(path) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
["['a'][0]", "['a'][1]"]

Nodes are tuples, lists, dictionaries, deques, named tuples, named operator results and registered types. All
other objects are leaves. A predicate `is_leaf` is called for every node, and may declare the node a leaf.
"""

# ruff: noqa: F401 -- names that PyTorch's module has and neighbouring modules define
from __future__ import annotations

import dataclasses
import functools
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

import optree
from typing_extensions import deprecated

from ts.utils._pytree_json import (
    _SUPPORTED_PROTOCOLS,
    DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL,
    EnumEncoder,
    _ensure_python_treespec_instance,
    _is_pytreespec_instance,
    _json_to_treespec,
    _ProtocolFn,
    _treespec_to_json,
    _TreeSpecSchema,
    enum_object_hook,
    treespec_dumps,
    treespec_loads,
)
from ts.utils._pytree_nodes import (
    _NODE_REGISTRY_LOCK,
    BUILTIN_TYPES,
    CONSTANT_NODES,
    NAMESPACE,
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    SUPPORTED_SERIALIZED_TYPES,
    Context,
    DumpableContext,
    FlattenFn,
    FlattenWithKeysFn,
    FromDumpableContextFn,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    MappingKey,
    NodeDef,
    Py_TPFLAGS_BASETYPE,
    PyTree,
    SequenceKey,
    ToDumpableContextFn,
    UnflattenFn,
    _defaultdict_deserialize,
    _defaultdict_flatten,
    _defaultdict_flatten_with_keys,
    _defaultdict_serialize,
    _defaultdict_unflatten,
    _deque_flatten,
    _deque_flatten_with_keys,
    _deque_unflatten,
    _deregister_pytree_node,
    _dict_flatten,
    _dict_flatten_with_keys,
    _dict_unflatten,
    _get_node_type,
    _list_flatten,
    _list_flatten_with_keys,
    _list_unflatten,
    _namedtuple_deserialize,
    _namedtuple_flatten,
    _namedtuple_flatten_with_keys,
    _namedtuple_serialize,
    _namedtuple_unflatten,
    _odict_flatten,
    _odict_unflatten,
    _ordereddict_flatten,
    _ordereddict_flatten_with_keys,
    _ordereddict_unflatten,
    _private_register_pytree_node,
    _SerializeNodeDef,
    _tuple_flatten,
    _tuple_flatten_with_keys,
    _tuple_unflatten,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    leaf_rule,
    structseq,
    tree_is_leaf,
)
from ts.utils._pytree_specs import (
    _LEAF_SPEC,
    ConstantNode,
    LeafSpec,
    PyTreeSpec,
    TreeSpec,
    treespec_dict,
    treespec_leaf,
    treespec_tuple,
)
from ts.utils._pytree_specs import flatten as tree_flatten

__all__ = [
    "Context",
    "DumpableContext",
    "FlattenFn",
    "FromDumpableContextFn",
    "LeafSpec",
    "PyTree",
    "PyTreeSpec",
    "ToDumpableContextFn",
    "TreeSpec",
    "UnflattenFn",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

T = TypeVar("T")
S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")

ToStrFunc: TypeAlias = Callable[[TreeSpec, list[str]], str]
MaybeFromStrFunc: TypeAlias = Callable[[str], tuple[Any, Context, str] | None]
FlattenFunc = FlattenFn
UnflattenFunc = UnflattenFn
FlattenWithKeysFunc = FlattenWithKeysFn
Type2: TypeAlias = tuple[type[T], type[S]]
Type3: TypeAlias = tuple[type[T], type[S], type[U]]
TypeAny: TypeAlias = type[Any] | tuple[type[Any], ...] | types.UnionType
Fn: TypeAlias = Callable[[T], R]
Fn2: TypeAlias = Callable[[T | S], R]
Fn3: TypeAlias = Callable[[T | S | U], R]
FnAny: TypeAlias = Callable[[Any], R]
MapOnlyFn: TypeAlias = Callable[[T], Callable[[Any], Any]]
LeafRule: TypeAlias = Callable[[PyTree], bool] | None


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Register a class as pytree node type.

    `flatten_fn` returns (children, context) of an object. `unflatten_fn` creates an object from children and
    context. `flatten_with_keys_fn` returns (key, child) pairs instead of children.

    `treespec_dumps` and `treespec_loads` need the other arguments. `serialized_type_name` is the name of the
    type. `to_dumpable_context` and `from_dumpable_context` convert a context to JSON and back. Raises
    ValueError if the class is already registered.
    """
    with _NODE_REGISTRY_LOCK:
        if cls in SUPPORTED_NODES:
            raise ValueError(f"{cls} is already registered as pytree node.")
        _private_register_pytree_node(
            cls,
            flatten_fn,
            unflatten_fn,
            serialized_type_name=serialized_type_name,
            to_dumpable_context=to_dumpable_context,
            from_dumpable_context=from_dumpable_context,
            flatten_with_keys_fn=flatten_with_keys_fn,
        )


@deprecated(
    "`torch.utils._pytree._register_pytree_node` is deprecated. "
    "Please use `torch.utils._pytree.register_pytree_node` instead.",
    category=FutureWarning,
)
def _register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    to_str_fn: ToStrFunc | None = None,
    maybe_from_str_fn: MaybeFromStrFunc | None = None,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Register a node type as `register_pytree_node` does, and replace an existing registration."""
    if to_str_fn is not None or maybe_from_str_fn is not None:
        warnings.warn(
            "`to_str_fn` and `maybe_from_str_fn` is deprecated. "
            "Please use `to_dumpable_context` and `from_dumpable_context` instead.",
            FutureWarning,
            stacklevel=2,
        )
    _private_register_pytree_node(
        cls,
        flatten_fn,
        unflatten_fn,
        serialized_type_name=serialized_type_name,
        to_dumpable_context=to_dumpable_context,
        from_dumpable_context=from_dumpable_context,
        flatten_with_keys_fn=flatten_with_keys_fn,
    )


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Register a named tuple class for `treespec_dumps`, under a serialized name."""
    _private_register_pytree_node(
        cls,
        _namedtuple_flatten,
        _namedtuple_unflatten,
        serialized_type_name=serialized_type_name,
        to_dumpable_context=_namedtuple_serialize,
        from_dumpable_context=_namedtuple_deserialize,
        flatten_with_keys_fn=_namedtuple_flatten_with_keys,
    )


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Register a dataclass as a pytree node type.

    The children of a node are the fields whose values are not None. A class that is not a dataclass requires
    `field_names`. For a dataclass, `field_names` is optional and must list all fields except those in
    `drop_field_names`. Raises ValueError otherwise.
    """
    fields = _fields_of(cls, field_names, drop_field_names or [])

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        present = {name: getattr(obj, name) for name in fields}
        absent = [name for name in fields if present[name] is None]
        for name in absent:
            del present[name]
        return list(present.values()), [list(present), absent]

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
        values, (names, _) = flatten(obj)
        return list(zip(map(GetAttrKey, names), values, strict=True)), names

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        names, absent = context
        return cls(**dict(zip(names, values, strict=True)), **dict.fromkeys(absent))

    _private_register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


def _fields_of(cls: type[Any], field_names: list[str] | None, dropped: list[str]) -> list[str]:
    """Return the names of the fields of a class whose values are children of the pytree node."""
    if not dataclasses.is_dataclass(cls):
        if field_names is None:
            raise ValueError(
                "field_names must be specified with a list of all fields used to "
                f"initialize {cls}, as it is not a dataclass."
            )
        return field_names
    init_fields = [field.name for field in dataclasses.fields(cls) if field.init]
    if field_names is None:
        return init_fields
    missing = {*init_fields} - {*dropped} - {*field_names}
    unexpected = {*field_names} - ({*init_fields} - {*dropped})
    if missing or unexpected:
        message = "field_names does not include all dataclass fields.\n"
        if missing:
            message += (
                f"Missing fields in `field_names`: {missing}. If you want to include these fields in the "
                "pytree, please add them to `field_names`, otherwise please add them to `drop_field_names`.\n"
            )
        if unexpected:
            message += (
                f"Unexpected fields in `field_names`: {unexpected}. "
                "Please remove these fields, or add them to `drop_field_names`.\n"
            )
        raise ValueError(message)
    return field_names


def register_constant(cls: type[Any]) -> None:
    """Register a class whose objects are nodes without children. The spec contains the object."""
    for method, default in (("__eq__", object.__eq__), ("__hash__", None)):
        if getattr(cls, method) is default:
            raise TypeError(
                f"register_constant(cls) expects `cls` to have a non-default `{method}` implementation."
            )

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        return [], ConstantNode(obj)

    with _NODE_REGISTRY_LOCK:
        _private_register_pytree_node(
            cls, flatten, lambda values, context: context.value, flatten_with_keys_fn=flatten
        )
        CONSTANT_NODES.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Return True if the class was registered by `register_constant`."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


def _is_constant_holder(spec: TreeSpec) -> bool:
    """Return True for the spec of a constant.

    The class of a constant was registered by `register_constant`.
    """
    return isinstance(spec.context, ConstantNode)


def _retrieve_constant(spec: TreeSpec) -> Any:
    """Return the object in a spec of a constant. Raise AssertionError for other specs."""
    if not _is_constant_holder(spec):
        raise AssertionError("spec does not correspond to a registered constant pytree")
    return spec.unflatten([])


@deprecated(
    "torch.utils._pytree._is_namedtuple_instance is private and will be removed in a future release. "
    "Please use torch.utils._pytree.is_namedtuple_instance instead.",
    category=FutureWarning,
)
def _is_namedtuple_instance(tree: Any) -> bool:
    return is_namedtuple_instance(tree)


@deprecated(
    "torch.utils._pytree._is_leaf is private and will be removed in a future release. "
    "Please use torch.utils._pytree.tree_is_leaf instead.",
    category=FutureWarning,
)
def _is_leaf(tree: PyTree, is_leaf: LeafRule = None) -> bool:
    return tree_is_leaf(tree, is_leaf)


def tree_unflatten(leaves: Any, treespec: Any) -> PyTree:
    """Return the tree with the given leaves and spec, which are accepted in either order."""
    if _is_pytreespec_instance(treespec):
        return treespec.unflatten(leaves)
    if _is_pytreespec_instance(leaves):
        return leaves.unflatten(treespec)
    raise TypeError(
        f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
    )


def tree_iter(tree: PyTree, is_leaf: LeafRule = None) -> Iterator[Any]:
    """Return an iterator over the leaves of a tree."""
    leaves = optree.tree_iter(tree, leaf_rule(is_leaf), none_is_leaf=True, namespace=NAMESPACE)
    return iter(leaves)


def tree_leaves(tree: PyTree, is_leaf: LeafRule = None) -> list[Any]:
    """Return the leaves of a tree, in order."""
    return optree.tree_leaves(tree, leaf_rule(is_leaf), none_is_leaf=True, namespace=NAMESPACE)


def tree_structure(tree: PyTree, is_leaf: LeafRule = None) -> TreeSpec:
    """Return the tree spec of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafRule = None) -> PyTree:
    """Return a tree of `func(leaf, *subtrees)`.

    `subtrees` contains, for each tree in `rests`, its subtree at the position of the leaf.

    >>> tree_map(lambda x: x + 1, {"x": 7, "y": (42, 64)})
    {'x': 8, 'y': (43, 65)}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *map(spec.flatten_up_to, rests)))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafRule = None) -> PyTree:
    """Call `func(leaf, *subtrees)` for each leaf, and return `tree` unchanged."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *map(spec.flatten_up_to, rests)), maxlen=0)
    return tree


def map_only(type_or_types_or_pred: TypeAny | Callable[[Any], bool], /) -> MapOnlyFn[FnAny[Any]]:
    """Return a decorator that applies a function only to selected objects. Others are returned unchanged.

    The argument is the type or a tuple of the types of the selected objects, or a predicate.

    >>> map_only(int)(lambda x: x + 1)("a")
    'a'
    """
    predicate: Callable[[Any], bool]
    if isinstance(type_or_types_or_pred, type | tuple | types.UnionType):
        predicate = functools.partial(_is_instance, type_or_types_or_pred)
    elif callable(type_or_types_or_pred):
        predicate = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def decorate(func: FnAny[Any]) -> FnAny[Any]:
        @functools.wraps(func)
        def wrapped(x: Any) -> Any:
            return func(x) if predicate(x) else x

        return wrapped

    return decorate


def _is_instance(types: TypeAny, x: Any) -> bool:
    return isinstance(x, types)


def tree_map_only(
    type_or_types_or_pred: TypeAny | Callable[[Any], bool],
    /,
    func: FnAny[Any],
    tree: PyTree,
    is_leaf: LeafRule = None,
) -> PyTree:
    """Apply `func` to leaves selected by types or by a predicate. Other leaves are unchanged."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: TypeAny | Callable[[Any], bool],
    /,
    func: FnAny[Any],
    tree: PyTree,
    is_leaf: LeafRule = None,
) -> PyTree:
    """Call `func` with leaves selected by types or by a predicate, and return the tree unchanged."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: LeafRule = None) -> bool:
    """Return True if `pred` is true for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: LeafRule = None) -> bool:
    """Return True if `pred` is true for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: TypeAny, /, pred: FnAny[bool], tree: PyTree, is_leaf: LeafRule = None
) -> bool:
    """Return True if `pred` is true for all leaves of the given types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: TypeAny, /, pred: FnAny[bool], tree: PyTree, is_leaf: LeafRule = None
) -> bool:
    """Return True if `pred` is true for a leaf of the given types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: LeafRule = None) -> list[Any] | None:
    """Return a list with an item for each leaf of the spec.

    The item is the leaf of `tree` at the position of the spec's leaf, or above this position. Return None if
    the tree is not a prefix of the spec.
    """
    full = treespec.unflatten([0] * treespec.num_leaves)
    try:
        return optree.broadcast_prefix(tree, full, leaf_rule(is_leaf), none_is_leaf=True, namespace=NAMESPACE)
    except ValueError:
        return None


class _Asterisk(str):
    """Leaf that `treespec_pprint` prints as an asterisk without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


_asterisk = _Asterisk("*")


def treespec_pprint(treespec: TreeSpec) -> str:
    """Return the text of a tree with this spec, in which the leaves are asterisks.

    >>> treespec_pprint(tree_structure({"a": (1, 2)}))
    "{'a': (*, *)}"
    """
    return repr(tree_unflatten([_asterisk] * treespec.num_leaves, treespec))


@deprecated(
    "`pytree_to_str` is deprecated. Please use `treespec_dumps` instead.",
    category=FutureWarning,
)
def pytree_to_str(treespec: TreeSpec) -> str:
    """Serialize a spec to JSON."""
    return treespec_dumps(treespec)


@deprecated(
    "`str_to_pytree` is deprecated. Please use `treespec_loads` instead.",
    category=FutureWarning,
)
def str_to_pytree(json: str) -> TreeSpec:
    """Deserialize a spec from JSON."""
    return treespec_loads(json)


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """Return the leaves of all arguments."""
    return tree_leaves((args, kwargs))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: LeafRule = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Return the (path, leaf) pairs and the spec of a tree."""
    spec = tree_structure(tree, is_leaf)
    return tree_leaves_with_path(tree, is_leaf), spec


def tree_leaves_with_path(tree: PyTree, is_leaf: LeafRule = None) -> list[tuple[KeyPath, Any]]:
    """Return (path, leaf) pairs."""
    return list(_generate_key_paths((), tree, is_leaf))


def _generate_key_paths(
    key_path: KeyPath, tree: PyTree, is_leaf: LeafRule = None
) -> Iterator[tuple[KeyPath, Any]]:
    """Yield (path, leaf) pairs, in which all paths start with `key_path`."""
    # optree is not used here, because optree requires that `flatten_with_keys_fn` and `flatten_fn` return
    # equal children.
    if tree_is_leaf(tree, is_leaf):
        yield key_path, tree
        return
    kind = _get_node_type(tree)
    with_keys = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if with_keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. "
            "Please pass a flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, child in with_keys(tree)[0]:
        yield from _generate_key_paths((*key_path, key), child, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafRule = None
) -> PyTree:
    """Apply `tree_map`, where the first argument of `func` is the path of the leaf."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [*zip(*pairs, strict=True), *map(spec.flatten_up_to, rests)]
    return spec.unflatten(func(*row) for row in zip(*columns, strict=True))


def keystr(kp: KeyPath) -> str:
    """Format a path as the end of a Python expression.

    >>> keystr((MappingKey("a"), SequenceKey(0), GetAttrKey("x")))
    "['a'][0].x"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Return the object at a path in `obj`."""
    return functools.reduce(lambda parent, key: key.get(parent), kp, obj)
