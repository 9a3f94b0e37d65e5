"""Node: an operation of a graph, of one of PyTorch's six kinds.

The kind determines the meaning of the other attributes:

    kind            target                       arguments                     value
    placeholder     parameter name               default value, if any         argument of the call
    get_attr        dotted name                                                tensor or module of the root
    call_function   function                     arguments of the function     result of the function
    call_module     dotted name of a module      arguments of `forward`        result of the module
    call_method     method name                  object, other arguments       result of the method
    output          "output"                     result of the graph

The nodes of a graph form a linked list (`prev`, `next`). Arguments may be nodes and containers of nodes. The
attribute `users` of a node contains the nodes that use it. To change arguments, assign new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, Union

import ts
from ts._core.dispatch.overloads import OverloadSet
from ts._core.tensor.tensor import Tensor
from ts.fx.immutable_collections import immutable_dict, immutable_list
from ts.fx.impurity import has_side_effect, is_impure
from ts.fx.operator_schemas import ArgsKwargsPair, normalize_function, normalize_module
from ts.fx.tensor_annotations import tensor_text
from ts.fx.torch_names import printed_target, qualified_name, type_name
from ts.ops.namespace import OpOverload

if TYPE_CHECKING:
    from ts.fx.graph import Graph

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

BaseArgumentTypes = Union[str, int, float, bool, complex, "ts.dtype", Tensor, "ts.device", None]
Target = Callable[..., Any] | str
Argument = Any
ArgumentT = TypeVar("ArgumentT")

_LEGAL_OPS: Final = (
    "placeholder",
    "call_method",
    "call_module",
    "call_function",
    "get_attr",
    "output",
    "root",
)
_get_qualified_name = qualified_name
_type_repr = type_name


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply `fn` to all leaves of nested containers. The new lists and dictionaries are immutable."""
    kind = type(a)
    if kind is tuple:
        return tuple([map_aggregate(x, fn) for x in a])
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return kind(*items) if hasattr(a, "_fields") else kind(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict([(k, map_aggregate(v, fn)) for k, v in a.items()])
    if kind is slice:
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Apply `fn` to all nodes in nested containers. The new lists and dictionaries are immutable."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _format_arg(arg: object, max_list_len: float = float("inf")) -> str:
    """Format an argument as in the text of a graph, where nodes have a `%`."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return str(arg._custom_fx_repr_fn())
    if isinstance(arg, list | tuple):
        elements = ", ".join(_format_arg(x) for i, x in enumerate(arg) if i < max_list_len)
        rest = "" if len(arg) < max_list_len + 1 else f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{elements}{rest}]"
        return f"({elements}{',' if len(arg) == 1 else ''}{rest})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {_format_arg(v)}" for k, v in arg.items()) + "}"
    if isinstance(arg, OverloadSet | OpOverload):
        return qualified_name(arg).removeprefix("torch.ops.")
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _key_between(previous: tuple[int, ...], following: tuple[int, ...]) -> tuple[int, ...]:
    """Return a sort key greater than `previous` and less than `following`, the keys of two adjacent nodes."""
    if len(previous) > len(following):
        return (*previous[: len(following)], previous[len(following)] + 1)
    if len(previous) < len(following):
        return (*following[: len(previous)], following[len(previous)] - 1)
    return (*previous, 0)


class Node:
    """Operation of a graph, with one of the kinds that the module docstring lists."""

    graph: Graph
    name: str
    op: str
    target: Any
    type: Any
    users: dict[Node, None]
    meta: dict[str, Any]
    _args: tuple[Any, ...]
    _kwargs: dict[str, Any]
    _input_nodes: dict[Node, None]
    _prev: Node
    _next: Node
    _erased: bool
    _repr_fn: Callable[[Node], str] | None
    _sort_key: tuple[int, ...]  # position in the graph, which `<` and `>` on nodes compare
    _fx_partition: Any  # partition of the node. The attribute exists only after a pass has set it

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op != "call_function" and op not in _LEGAL_OPS:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if not (callable(target) if op == "call_function" else isinstance(target, str)):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {ts.typename(target)} "
                f"but a {'Callable' if op == 'call_function' else 'str'} is expected"
            )
        put = self.__dict__.__setitem__
        put("graph", graph)
        put("name", name)
        put("op", op)
        put("target", target)
        put("type", return_type)
        put("users", {})
        put("meta", {})
        put("_input_nodes", {})
        put("_prev", self)
        put("_next", self)
        put("_erased", False)
        put("_sort_key", ())
        put("_repr_fn", None)
        self._update_args_kwargs(args, kwargs)

    @property
    def args(self) -> tuple[Argument, ...]:
        """Positional arguments. Assign a tuple to change them."""
        return self._args

    @args.setter
    def args(self, args: tuple[Argument, ...]) -> None:
        self._update_args_kwargs(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """Keyword arguments. Assign a dictionary to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Argument]) -> None:
        self._update_args_kwargs(self._args, kwargs)

    @property
    def all_input_nodes(self) -> list[Node]:
        """Nodes in the arguments, without duplicates, in order."""
        return list(self._input_nodes)

    def _update_args_kwargs(self, args: Any, kwargs: Any) -> None:
        """Set the arguments, and update `users` of the nodes in the old and new arguments."""
        for old in self._input_nodes:
            old.users.pop(self, None)
        inputs: dict[Node, None] = {}

        def used(node: Node) -> Node:
            inputs[node] = None
            node.users[self] = None
            return node

        own = self.__dict__
        own["_input_nodes"] = inputs
        own["_args"] = map_arg(args, used)
        own["_kwargs"] = map_arg(kwargs, used)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace the positional argument at index `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Insert a positional argument before index `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Set the keyword argument `key`."""
        self.kwargs = {**self.kwargs, key: arg}

    def _replace_input_with(self, old: Node, new: Node) -> None:
        def replaced(node: Node) -> Node:
            return new if node is old else node

        self._update_args_kwargs(map_arg(self._args, replaced), map_arg(self._kwargs, replaced))

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Replace `old_input` by `new_input` in all arguments."""
        for hook in getattr(self.graph.owning_module, "_replace_hooks", None) or ():
            hook(old=old_input, new=new_input.name, user=self)
        self._replace_input_with(old_input, new_input)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Replace this node by `replace_with` in the arguments of its users, and return the changed users.

        delete_user_cb   predicate for the users to change (default: all users)
        propagate_meta   copy `meta` to `replace_with`, whose `meta` must be empty
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                    "but replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        hooks = getattr(self.graph.owning_module, "_replace_hooks", None) or ()
        changed = []
        for user in [*self.users]:
            if delete_user_cb is not None and not delete_user_cb(user):
                continue
            changed.append(user)
            for hook in hooks:
                hook(old=self, new=replace_with.name, user=user)
            user._replace_input_with(self, replace_with)
        return changed

    @property
    def next(self) -> Node:
        """Node after this node in the graph."""
        return self._next

    @property
    def prev(self) -> Node:
        """Node before this node in the graph."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move the node `x` before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before.__dict__["_next"] = x
        x.__dict__.update(_prev=before, _next=self)
        self.__dict__["_prev"] = x
        x.__dict__["_sort_key"] = _key_between(before._sort_key, self._sort_key)

    _prepend = prepend

    def append(self, x: Node) -> None:
        """Move the node `x` after this node."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        previous, following = self._prev, self._next
        previous.__dict__["_next"] = following
        following.__dict__["_prev"] = previous

    def __lt__(self, other: Node) -> bool:
        return self._sort_key < other._sort_key

    def __gt__(self, other: Node) -> bool:
        return self._sort_key > other._sort_key

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "name":
            for hook in getattr(self.graph.owning_module, "_replace_hooks", None) or ():
                for user in self.users:
                    hook(old=self, new=value, user=user)
        table = self.graph._find_nodes_lookup_table if name in ("op", "target") else None
        if table is None or self not in table:
            object.__setattr__(self, name, value)
            return
        table.remove(self)
        object.__setattr__(self, name, value)
        table.insert(self)

    def _rename(self, candidate: str) -> None:
        """Rename the node to `candidate`. If another node has this name, append a number."""
        if candidate == self.name:
            return
        self.name = self.graph._graph_namespace.create_name(candidate, None)
        self.graph._graph_namespace._rename_object(self, self.name)

    @property
    def stack_trace(self) -> str | None:
        """Program's stack trace at the operation, or None if the tracer recorded no stack traces."""
        return self.meta.get("stack_trace")  # type: ignore[no-any-return]

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return True if the node has side effects."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            if self.graph.owning_module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            module = self.graph.owning_module.get_submodule(self.target)
            return bool(getattr(module, "_is_impure", False))
        return self.op == "call_function" and is_impure(self.target, impure_random)

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:
        """Return the arguments by the parameter names of the target's signature, with default values added.

        Return None if the arguments do not match the signature. `root` is the module that contains the target
        of a `call_module` node. `arg_types` and `kwarg_types` are the types of the arguments, which select an
        overload of an operator.
        """
        if self.op == "call_function":
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    def __repr__(self) -> str:
        return str(self._repr_fn(self)) if self._repr_fn else str(self.name)

    _pretty_print_target = staticmethod(printed_target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """Return the line for this node in the text of its graph.

        include_tensor_metadata   add dtype, shape, strides and device of the result
        placeholder_names         nonempty list: for a placeholder, append the text and return None
        maybe_return_typename     nonempty list: for the output node, set element 0 to the return annotation
        """
        of_type = "" if self.type is None else f"{type_name(self.type)} "
        head = f"%{self.name} : {of_type}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(
                    self.target + (f"{self.target}: {type_name(self.type)}" if self.type else "")
                )
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={printed_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_name(self.type)}"
            return f"return {self.args[0]}"
        if include_tensor_metadata and isinstance(value := meta_value(self), Tensor):
            description = tensor_text(value, stride=True, device=True)
            head = f'%{self.name} : Tensor "{description}"[num_users={len(self.users)}] = {self.op}'
        return (
            f"{head}[target={printed_target(self.target)}]"
            f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_repr_fn": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Node:
        """Return the copy of this node in `memo`, or the node itself if `memo` contains no copy.

        Only the copying of a graph creates copies of its nodes.
        """
        return memo.get(self, self)  # type: ignore[no-any-return]


def meta_value(node: Node) -> Any:
    """Return the first of meta["val"], meta["tensor_meta"] and meta["example_value"] that exists, or None."""
    return node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))


NodeList = Sequence[Node]
