"""Immutable lists and dictionaries: the containers in the arguments of nodes.

Example: `node.args[0].append(x)` raises TypeError, because the change would not update `users` of the node x.
An assignment to `node.args` updates `users`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

from ts.utils import _pytree_nodes
from ts.utils._pytree import register_pytree_node
from ts.utils._pytree_nodes import (
    _dict_flatten,
    _dict_flatten_with_keys,
    _list_flatten,
    _list_flatten_with_keys,
)

__all__ = ["immutable_dict", "immutable_list"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def _no_mutation(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the "
        "kwargs or args of a torch.fx.Node object,\n"
        "instead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n"
        "    node.args = new_args"
    )


class immutable_list(list[T]):
    """Immutable list."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _no_mutation  # type: ignore[assignment]
    append = clear = extend = insert = pop = remove = reverse = sort = _no_mutation  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return type(self), (tuple(iter(self)),)


class immutable_dict(dict[K, V]):
    """Immutable dictionary."""

    __delitem__ = __ior__ = __setitem__ = _no_mutation  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _no_mutation  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return type(self), (iter(self.items()),)


def _list_unflatten(values: Iterable[Any], context: Any) -> immutable_list[Any]:
    return immutable_list(_pytree_nodes._list_unflatten(values, context))


def _dict_unflatten(values: Iterable[Any], context: Any) -> immutable_dict[Any, Any]:
    return immutable_dict(_pytree_nodes._dict_unflatten(values, context))


register_pytree_node(
    immutable_list,
    _list_flatten,
    _list_unflatten,
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
    flatten_with_keys_fn=_list_flatten_with_keys,
)
register_pytree_node(
    immutable_dict,
    _dict_flatten,
    _dict_unflatten,
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
    flatten_with_keys_fn=_dict_flatten_with_keys,
)
