"""Metadata propagation from the node that an interpreter executes to new nodes: `torch.fx.traceback`.

Each line shows an operation, and the metadata of the new nodes:

    with preserve_node_meta(), set_current_meta(node):
        proxy + 1                       `meta` contains the stack trace of `node`, and `from_node`

    with annotate({"stage": 1}): ...    `meta["custom"]` contains the stage
"""

from __future__ import annotations

import copy
import functools
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, TypeVar

from ts.fx.node import Node
from ts.unsupported import names_for

__all__ = [
    "NodeSource", "NodeSourceAction", "annotate", "annotate_fn", "format_stack", "get_current_meta",
    "get_current_replay_node", "get_graph_provenance_json", "has_preserved_node_meta", "preserve_node_meta",
    "reset_grad_fn_seq_nr", "set_current_meta", "set_current_replay_node", "set_grad_fn_seq_nr",
    "set_stack_trace",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])

current_meta: dict[str, Any] = {}
current_replay_node: Node | None = None
should_preserve_node_meta = False


class NodeSourceAction(Enum):
    """Action of a pass on the original node: create a new node from it, or replace it by a new node."""

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """Origin of a node: the original node, the pass that created the node from it, and the pass's actions.

    It also contains the origins of the original node.

    >>> NodeSource(None, "inline", NodeSourceAction.CREATE)
    (name=, pass_name=inline, action=create, graph_id=-1)
    """

    class NodeInfo:
        """Description of a node that may be erased later: name, text of the target, id of the graph."""

        def __init__(self, name: str, target: str, graph_id: int) -> None:
            self.name = name
            self.target = target
            self.graph_id = graph_id

    def __init__(
        self,
        node: Node | None,
        pass_name: str = "",
        action: NodeSourceAction | list[NodeSourceAction] | None = None,
    ) -> None:
        self.pass_name = pass_name
        self.action = action if isinstance(action, list) else [] if action is None else [action]
        for each in self.action:
            if not isinstance(each, NodeSourceAction):
                raise AssertionError(f"Expected NodeSourceAction, got {type(each)}")
        self.node_info: NodeSource.NodeInfo | None = None
        self.from_node: list[NodeSource] = []
        if node is not None:
            self.node_info = self.NodeInfo(node.name, str(node.target), id(node.graph))
            self.from_node = copy.deepcopy(node.meta.get("from_node", []))

    @property
    def name(self) -> str:
        """Name of the original node, or "" if no original node is recorded."""
        return self.node_info.name if self.node_info else ""

    @property
    def target(self) -> str:
        """Target of the original node as text, or "" if no original node is recorded."""
        return self.node_info.target if self.node_info else ""

    @property
    def graph_id(self) -> int:
        """Graph id of the original node, or -1 if no original node is recorded."""
        return self.node_info.graph_id if self.node_info else -1

    def _get_action_string(self) -> str:
        return "+".join(each.name.lower() for each in self.action)

    def __repr__(self) -> str:
        return self.print_readable()

    def print_readable(self, indent: int = 0) -> str:
        """Return one line for this origin, followed by indented lines for its own origins."""
        if indent > 9:
            return ""
        line = (
            f"{' ' * indent * 4}(name={self.name}, pass_name={self.pass_name}, "
            f"action={self._get_action_string()}, graph_id={self.graph_id})\n"
        )
        return line + "".join(each.print_readable(indent + 1) for each in self.from_node)

    def to_dict(self) -> dict[str, Any]:
        """Return this origin as nested dictionaries, lists, strings and numbers."""
        return {
            "name": self.name,
            "target": self.target,
            "graph_id": self.graph_id,
            "pass_name": self.pass_name,
            "action": self._get_action_string(),
            "from_node": [each.to_dict() for each in self.from_node],
        }

    @classmethod
    def _from_dict(cls, d: dict[str, Any] | None) -> NodeSource | None:
        if d is None:
            return None
        if not isinstance(d, dict):
            raise AssertionError(f"Expected a dict, got {type(d)}")
        actions = {each.name.lower(): each for each in NodeSourceAction}
        named = [actions[name] for name in d.get("action", "").lower().split("+") if name in actions]
        source = cls(None, d.get("pass_name", ""), named)
        if {"name", "target", "graph_id"} <= set(d):
            source.node_info = cls.NodeInfo(d["name"], d["target"], d["graph_id"])
        parents = (cls._from_dict(each) for each in d.get("from_node") or ())
        source.from_node = [each for each in parents if each is not None]
        return source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))


def get_graph_provenance_json(graph: Any) -> dict[str, Any]:
    """Return a dictionary: name of a call node -> its origins (`meta["from_node"]`) as dictionaries."""
    calls = ("call_function", "call_method", "call_module")
    return {
        node.name: [source.to_dict() for source in node.meta["from_node"]] if "from_node" in node.meta else []
        for node in graph.nodes
        if node.op in calls
    }


# ---------------------------------------------------------------- metadata of new nodes


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Within this context, the current metadata is copied to new nodes if `enable` is True."""
    global should_preserve_node_meta, current_meta
    before = should_preserve_node_meta, current_meta.copy()
    should_preserve_node_meta = enable
    try:
        yield
    finally:
        should_preserve_node_meta, current_meta = before


def has_preserved_node_meta() -> bool:
    """Return True if the current metadata is copied to new nodes."""
    return should_preserve_node_meta


def get_current_meta() -> dict[str, Any]:
    """Return the current metadata, which is copied to the `meta` of new nodes."""
    return current_meta


@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """Within this context, the current metadata is `node.meta`, if `preserve_node_meta` is enabled."""
    global current_meta
    if not (should_preserve_node_meta and node.meta):
        yield
        return
    before = current_meta
    try:
        current_meta = {**node.meta, "from_node": [NodeSource(node, pass_name, NodeSourceAction.CREATE)]}
        yield
    finally:
        current_meta = before


def set_stack_trace(stack: list[str]) -> None:
    """Set the stack trace in the current metadata, or remove it if `stack` is empty."""
    if not should_preserve_node_meta:
        return
    if stack:
        current_meta["stack_trace"] = "".join(stack)
    else:
        current_meta.pop("stack_trace", None)


def format_stack() -> list[str]:
    """Return the stack trace in the current metadata.

    Outside of `preserve_node_meta`, return the stack trace of the caller.
    """
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Within this context, add entries to `meta["custom"]` of new nodes."""
    before = copy.copy(current_meta["custom"]) if "custom" in current_meta else None
    try:
        current_meta.setdefault("custom", {}).update(annotation_dict)
        yield
    finally:
        if before is None:
            del current_meta["custom"]
        else:
            current_meta["custom"] = before


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[F], F]:
    """Return a decorator that calls the function within `annotate`."""

    def decorate(func: F) -> F:
        @functools.wraps(func)
        def called(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return func(*args, **kwargs)

        return called  # type: ignore[return-value]

    return decorate


def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Mark nodes that are created later as part of a backward computation.

    `seq_nr` is the sequence number of the forward operator whose gradient the nodes compute.
    """
    if should_preserve_node_meta:
        current_meta["grad_fn_seq_nr"] = [*current_meta.get("grad_fn_seq_nr", []), seq_nr]
        current_meta["in_grad_fn"] = current_meta.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr() -> None:
    """Remove the last sequence number that `set_grad_fn_seq_nr` has set."""
    if not should_preserve_node_meta:
        return
    level = current_meta.get("in_grad_fn", 0)
    if level <= 0:
        raise AssertionError(f"Expected current_level > 0, got {level}")
    if level == 1:
        del current_meta["in_grad_fn"], current_meta["grad_fn_seq_nr"]
    else:
        current_meta["in_grad_fn"] = level - 1
        current_meta["grad_fn_seq_nr"] = current_meta["grad_fn_seq_nr"][:-1]


@contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """Within this context, `get_current_replay_node` returns `node`."""
    global current_replay_node
    before, current_replay_node = current_replay_node, node
    try:
        yield
    finally:
        current_replay_node = before


def get_current_replay_node() -> Node | None:
    """Return the node that was set by `set_current_replay_node`, or None outside of its context."""
    return current_replay_node


__getattr__ = names_for(__name__)
