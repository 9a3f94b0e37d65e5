"""Flattening of containers by the tree spec of a traced call: `torch.fx._pytree`.

`tree_flatten_spec` returns the leaves of a container in the order of a spec:

    leaves, spec = tree_flatten({"a": 1, "b": [2, 3]})
    tree_flatten_spec({"b": [5, 6], "a": 4}, spec)              [4, 5, 6]

Classes that are registered in `ts.utils._pytree` need no registration here.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, Final

from ts.utils import _pytree_nodes as nodes
from ts.utils._pytree import PyTree, TreeSpec

FlattenFuncSpec = Callable[[PyTree, TreeSpec], list[Any]]
FlattenFuncExactMatchSpec = Callable[[PyTree, TreeSpec], bool]

SUPPORTED_NODES: Final[dict[type[Any], FlattenFuncSpec]] = {}
SUPPORTED_NODES_EXACT_MATCH: Final[dict[type[Any], FlattenFuncExactMatchSpec | None]] = {}


def register_pytree_flatten_spec(
    cls: type[Any],
    flatten_fn_spec: FlattenFuncSpec,
    flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None,
) -> None:
    """Register the function that returns the children of an instance of `cls` for a TreeSpec.

    `flatten_fn_exact_match_spec` checks whether an instance matches a TreeSpec exactly.
    """
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: type[Any]) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: PyTree, spec: TreeSpec) -> list[Any]:
    """Return the leaves of `pytree`, flattened to the depth of `spec`."""
    if spec.is_leaf():
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        children = SUPPORTED_NODES[spec.type](pytree, spec)
    elif spec.type in nodes.SUPPORTED_NODES and type(pytree) is spec.type:
        children = list(nodes.SUPPORTED_NODES[spec.type].flatten_fn(pytree)[0])
    else:
        raise RuntimeError(
            f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register one with "
            "torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your model, make "
            "sure that any custom pytrees have been registered before loading it."
        )
    leaves: list[Any] = []
    for child, child_spec in zip(children, spec.children(), strict=False):
        leaves += tree_flatten_spec(child, child_spec)
    return leaves


def _dict_flatten_spec(d: dict[Any, Any], spec: TreeSpec) -> list[Any]:
    return [d[k] for k in spec.context]


def _sequence_flatten_spec(d: Any, spec: TreeSpec) -> list[Any]:
    return [d[i] for i in range(spec.num_children)]


def _dict_flatten_spec_exact_match(d: dict[Any, Any], spec: TreeSpec) -> bool:
    return len(d) == spec.num_children


def _sequence_flatten_spec_exact_match(d: Any, spec: TreeSpec) -> bool:
    return len(d) == spec.num_children


_list_flatten_spec = _tuple_flatten_spec = _namedtuple_flatten_spec = _sequence_flatten_spec

register_pytree_flatten_spec(dict, _dict_flatten_spec, _dict_flatten_spec_exact_match)
# In tree specs, the type of every named tuple is the function `namedtuple`.
for _sequence in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_sequence, _sequence_flatten_spec, _sequence_flatten_spec_exact_match)  # type: ignore[arg-type]
