"""Operator support: objects that tell which nodes of a graph a partitioner may select.

Each line shows an object and the nodes that it supports:

    OperatorSupport({"torch.relu": None})           calls of torch.relu
    chain(a, b)                                     nodes that both a and b support
    any_chain(a, b)                                 nodes that a or b supports
    OpSupports.decline_if_input_dtype(ts.int64)     nodes without int64 arguments
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ts.fx.node import Node
from ts.fx.passes.shape_prop import TensorMetadata
from ts.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]

Submodules = Mapping[str, Module]
SupportDict = Mapping[str, tuple[Sequence[Sequence[Any] | None], Mapping[str, Sequence[Any]]] | None]


class OperatorSupportBase(abc.ABC):
    """Base class of objects that tell which nodes are supported."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Submodules, node: Node) -> bool:
        """Return True if a node is supported. `submodules` maps dotted names to modules."""
        raise NotImplementedError


class OperatorSupport(OperatorSupportBase):
    """Operator support by a table: target name -> supported dtypes of arguments, or None for any dtype."""

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Submodules, node: Node) -> bool:
        """Return True if `node` is not a call, or if the table allows its target with its argument dtypes."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        supported_dtypes = self._support_dict[target]
        if supported_dtypes is None:
            return True
        by_position, by_name = supported_dtypes
        pairs = [
            *zip(node.args, by_position, strict=False),
            *((node.kwargs[k], dtypes) for k, dtypes in by_name.items() if k in node.kwargs),
        ]
        return all(
            dtypes is None or not isinstance(x, Node) or _get_arg_dtype(x) in dtypes for x, dtypes in pairs
        )


class _CallableOperatorSupport(OperatorSupportBase):
    """Operator support that calls a function."""

    def __init__(self, predicate: Callable[[Submodules, Node], bool]) -> None:
        self.predicate = predicate

    def is_node_supported(self, submodules: Submodules, node: Node) -> bool:
        return self.predicate(submodules, node)


def create_op_support(is_node_supported: Callable[[Submodules, Node], bool]) -> OperatorSupportBase:
    """Return an operator support that calls `is_node_supported`."""
    return _CallableOperatorSupport(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return support for nodes that all given objects support."""
    return _CallableOperatorSupport(
        lambda submodules, node: all(x.is_node_supported(submodules, node) for x in op_support)
    )


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return support for nodes that one of the given objects supports."""
    return _CallableOperatorSupport(
        lambda submodules, node: any(x.is_node_supported(submodules, node) for x in op_support)
    )


class OpSupports:
    """Functions that create operator support for all nodes except some."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: Any) -> OperatorSupportBase:
        """Return support for nodes without inputs of the dtype `dtype`."""
        return _CallableOperatorSupport(
            lambda submodules, node: all(_get_arg_dtype(arg) != dtype for arg in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Return support for nodes whose names are not in `disallow_set`."""
        return _CallableOperatorSupport(lambda submodules, node: node.name not in disallow_set)


def _get_arg_dtype(arg: Node) -> Any:
    if not isinstance(arg, Node):
        raise AssertionError(f"Expected torch.fx.Node, got {type(arg)}")
    meta = arg.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else arg.meta["type"]


__getattr__ = names_for(__name__)
