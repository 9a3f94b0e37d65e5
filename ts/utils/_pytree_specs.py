"""Tree specs: PyTorch's `TreeSpec`, implemented by specs of optree.

The example shows the spec of a dictionary with three leaves:

>>> spec = flatten({"a": 1, "b": (2, 3)})[1]
>>> spec, spec.num_leaves, spec.context
(TreeSpec(dict, ['a', 'b'], [*,
  TreeSpec(tuple, None, [*,
    *])]), 3, ['a', 'b'])
>>> spec.unflatten([10, 20, 30])
{'a': 10, 'b': (20, 30)}

A `TreeSpec` contains optree's spec of the tree. It reads the type, context and children from optree's spec at
first use.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

import optree
from typing_extensions import deprecated

from ts.utils._pytree_nodes import (
    BUILTIN_TYPES,
    NAMESPACE,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    Context,
    PyTree,
    _get_node_type,
    leaf_rule,
)

T = TypeVar("T")

_set = object.__setattr__  # sets fields of specs, which are immutable otherwise


@dataclasses.dataclass(frozen=True, slots=True)
class ConstantNode(Generic[T]):
    """Context of a constant node: holds the constant object."""

    value: T


class TreeSpec:
    """Structure of a tree: type and context of its root, and the specs of its children."""

    __slots__ = ("_counts", "_native", "_root")

    # spec of optree, or None if this spec was constructed from its parts
    _native: optree.PyTreeSpec | None
    # type, context and children of the root, computed at first use
    _root: tuple[Any, Context, list[TreeSpec]] | None
    _counts: tuple[int, int]  # (number of nodes, number of leaves), only set if `_native` is None

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        nodes = leaves = 1
        if type is None:
            if context is not None:
                raise AssertionError("leaf node should not have a context")
            if len(children_specs) != 0:
                raise AssertionError("leaf node should not have children")
        else:
            nodes = 1 + sum(child.num_nodes for child in children_specs)
            leaves = sum(child.num_leaves for child in children_specs)
        _set(self, "_native", None)
        _set(self, "_root", (type, context, children_specs))
        _set(self, "_counts", (nodes, leaves))

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeSpec, (self.type, self._context, self._children)

    def _fields(self) -> tuple[Any, Context, list[TreeSpec]]:
        if self._root is None:
            assert self._native is not None
            root = self._native.one_level()
            assert root is not None
            kind: Any
            context: Context
            kind, context = root.walk(range(self.num_children), lambda *node: node[:2])
            if kind is defaultdict:
                context = [context[0], list(context[1])]
            elif kind in (dict, OrderedDict):
                context = list(context)
            elif self._native.kind == optree.PyTreeKind.NAMEDTUPLE:
                kind = namedtuple
            children = list(map(from_native, self._native.children()))
            _set(self, "_root", (kind, context, children))
            return kind, context, children
        return self._root

    @property
    def num_nodes(self) -> int:
        """Number of nodes, including leaves."""
        return self._counts[0] if self._native is None else self._native.num_nodes

    @property
    def num_leaves(self) -> int:
        """Number of leaves."""
        return self._counts[1] if self._native is None else self._native.num_leaves

    @property
    def num_children(self) -> int:
        """Number of children of the root."""
        return len(self._children) if self._native is None else self._native.num_children

    @property
    def type(self) -> Any:
        """Return the type of the root, or None for a leaf spec."""
        return self._fields()[0]

    @property
    def _context(self) -> Context:
        return self._fields()[1]

    @property
    def _children(self) -> list[TreeSpec]:
        return self._fields()[2]

    @property
    def context(self) -> Context:
        """Return the context of the root: the data that unflattening needs in addition to the children."""
        return self._context

    @property
    @deprecated(
        "`treespec.children_specs` is deprecated. "
        "Use `treespec.child(index)` to access a single child, "
        "or `treespec.children()` to get all children.",
        category=FutureWarning,
    )
    def children_specs(self) -> list[TreeSpec]:
        """Return the specs of the children."""
        return self._children

    def is_leaf(self) -> bool:
        """Return True if the tree is a single leaf."""
        return self.num_nodes == 1 and self.num_leaves == 1

    def children(self) -> list[TreeSpec]:
        """Return the specs of the children."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """Return the spec of the child at `index`."""
        return self._children[index]

    def __repr__(self, indent: int = 0) -> str:
        separator = ",\n" + " " * (indent + 2)
        children = separator.join(child.__repr__(indent + 2) for child in self._children)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{children}])"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        assert isinstance(other, TreeSpec)
        return (
            str(self.type) == str(other.type)
            and not self._context != other._context  # not `==`, because PyTorch calls `__ne__`
            and self._children == other._children
        )

    def __hash__(self) -> int:
        kind, context, children = self._fields()
        if kind is defaultdict:
            context = context[0], tuple(context[1])
        elif kind in (dict, OrderedDict):
            context = tuple(context)
        elif isinstance(context, ConstantNode):
            context = context.value
        elif kind is not None and kind not in BUILTIN_TYPES:
            context = None  # a custom context may not be hashable
        return hash((kind, context, tuple(children)))

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """Return the subtrees of `tree` at the positions of this spec's leaves."""
        if self._native is not None:
            try:
                return self._native.flatten_up_to(tree)
            except ValueError:
                pass  # `_match` raises an error with PyTorch's message
        subtrees: list[PyTree] = []
        _match(self, tree, subtrees)
        return subtrees

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Return the tree with this structure and these leaves."""
        if not isinstance(leaves, list | tuple):
            leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} "
                f"but the spec refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        if self.is_leaf():
            return leaves[0]
        if self._native is not None:
            return self._native.unflatten(leaves)
        # a spec that was constructed from its parts
        rest = iter(leaves)
        items = [child.unflatten([next(rest) for _ in range(child.num_leaves)]) for child in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(items, self._context)


PyTreeSpec: TypeAlias = TreeSpec


@deprecated(
    "`isinstance(treespec, LeafSpec)` is deprecated, "
    "use `isinstance(treespec, TreeSpec) and treespec.is_leaf()` instead.",
    category=FutureWarning,
)
class LeafSpec(TreeSpec):
    """Spec of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])

    def __reduce__(self) -> tuple[Any, ...]:
        return treespec_leaf, ()

    def __repr__(self, indent: int = 0) -> str:
        return "*"


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    _LEAF_SPEC = LeafSpec()


def from_native(native: optree.PyTreeSpec) -> TreeSpec:
    """Return the TreeSpec for a spec of optree."""
    if native.is_leaf():
        return _LEAF_SPEC
    spec = TreeSpec.__new__(TreeSpec)
    _set(spec, "_native", native)
    _set(spec, "_root", None)
    return spec


def flatten(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, in order, and its spec."""
    leaves, native = optree.tree_flatten(tree, leaf_rule(is_leaf), none_is_leaf=True, namespace=NAMESPACE)
    return leaves, from_native(native)


def _match(spec: TreeSpec, node: PyTree, subtrees: list[PyTree]) -> None:
    """Append to a list the subtrees of `node` at the positions of the leaves of the spec.

    Raise ValueError if the structure of `node` differs from the spec.
    """
    if spec.is_leaf():
        subtrees.append(node)
        return
    kind = _get_node_type(node)
    if spec.type in STANDARD_DICT_TYPES and kind in STANDARD_DICT_TYPES:
        children = _values_of(spec, node)
    else:
        children = _children_of(spec, node, kind)
    for child, item in zip(spec._children, children, strict=True):
        _match(child, item, subtrees)


def _values_of(spec: TreeSpec, node: Mapping[Any, PyTree]) -> list[PyTree]:
    """Return the values of a dictionary in the key order of the spec.

    The dictionary may have another type than the spec, such as OrderedDict instead of dict.
    """
    _check_arity(spec, node)
    keys = spec._context[1] if spec.type is defaultdict else spec._context
    expected, actual = set(keys), set(node)
    missing, extra = expected - actual, actual - expected
    if missing or extra:
        message = f"; missing key(s): {missing}" if missing else ""
        message += f"; extra key(s): {extra}" if extra else ""
        raise ValueError(f"Node keys mismatch{message}.")
    return [node[key] for key in keys]


def _children_of(spec: TreeSpec, node: PyTree, kind: Any) -> list[PyTree]:
    """Return the children of a node. Raise ValueError if its type is not that of the spec."""
    is_builtin = spec.type in BUILTIN_TYPES
    if kind != spec.type:
        label = "Node type" if is_builtin else "Type"
        raise ValueError(f"{label} mismatch; expected {spec.type!r}, but got {kind!r}.")
    if is_builtin:
        _check_arity(spec, node)
    children, context = SUPPORTED_NODES[kind].flatten_fn(node)
    if not is_builtin:
        _check_arity(spec, children)
    if kind is not deque and context != spec._context:
        if not is_builtin:
            raise ValueError(f"Node context mismatch for custom node type {spec.type!r}.")
        raise ValueError(
            f"Node context mismatch for node type {spec.type!r}; "
            f"expected {spec._context!r}, but got {context!r}."
        )
    return children


def _check_arity(spec: TreeSpec, items: Any) -> None:
    if len(items) != spec.num_children:
        raise ValueError(f"Node arity mismatch; expected {spec.num_children}, but got {len(items)}.")


def treespec_leaf() -> TreeSpec:
    """Return the spec of a leaf."""
    return _LEAF_SPEC


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """Return the spec of a tuple with children of these specs."""
    children = list(iterable)
    if not all(isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """Return the spec of a dictionary with values of these specs."""
    values = dict(mapping, **kwargs)
    if not all(isinstance(child, TreeSpec) for child in values.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {values!r}.")
    return TreeSpec(dict, list(values), list(values.values()))
