"""`make_fx`: record the operators that a function runs, including those of gradients, as an fx graph.

In this example, the graph contains the operators of the forward and the backward computation:

    graph_module = make_fx(lambda x: ts.func.grad(lambda a: a.sin().sum())(x))(ts.ones(3))
    graph_module.code           calls of aten.sin, aten.sum ... aten.cos, aten.mul in `torch.ops.aten`
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts._subclasses.fake_tensor import FakeTensorMode
from ts.fx.code_generation import PyTreeInfo, _PyTreeCodeGen
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.fx.passes.shape_prop import _extract_tensor_metadata
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.unsupported import names_for
from ts.utils import _pytree as pytree
from ts.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

__all__ = ["get_proxy_mode", "make_fx"]
__getattr__ = names_for(__name__)

aten = ts.ops.aten
_MODES = ("real", "fake", "symbolic")


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Dispatch mode that records each operator as a node of an fx graph."""

    def __init__(self, decompositions: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.graph = Graph()
        self.root = Module()
        self.decompositions = decompositions
        self.enable_tracing = True
        # Id of a tensor -> (tensor, node that computes it). The stored reference keeps the tensor alive, so
        # that its id is not reused.
        self._nodes: dict[int, tuple[Tensor, Node]] = {}
        self._constants: dict[int, tuple[Tensor, str]] = {}

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if not self.enable_tracing:
            return func(*args, **kwargs)
        decomposition = self.decompositions.get(func)
        if decomposition is not None:
            with self:
                result = decomposition(*args, **kwargs)
            if result is not NotImplemented:
                return result
        if func is aten._local_scalar_dense.default and self.find_node(args[0]) is not None:
            raise RuntimeError(
                f"It appears that you're trying to get value out of a tracing tensor with {func} - erroring "
                "out! It's likely that this is caused by data-dependent control flow or similar.  It may be "
                "possible to trace this with dynamic shapes; try setting tracing_mode='symbolic' in your "
                "make_fx call."
            )
        result = func(*args, **kwargs)
        if func is aten._local_scalar_dense.default:
            return result
        if func is aten.lift_fresh.default:
            func, result = aten.lift_fresh_copy.default, args[0]
        name, arguments, named = func.overloadpacket.__name__, self._argument(args), self._argument(kwargs)
        node = self.graph.create_node("call_function", func, arguments, named, name=name)
        self.bind(node, result)
        return result

    def placeholder(self, name: str, value: Any) -> Node:
        """Add a graph input whose value is `value`."""
        node = self.graph.placeholder(name)
        self.bind(node, value)
        return node

    def bind(self, node: Node, value: Any) -> None:
        """Record that `node` computes the tensor `value`.

        For a list or tuple, add a `getitem` node for each tensor in it, and record that this node computes
        the tensor.
        """
        if isinstance(value, Tensor):
            self._nodes[id(value)] = value, node
            self._describe(node, value)
            node.meta["tensor_meta"] = _extract_tensor_metadata(value)
        elif isinstance(value, list | tuple):
            node.meta["val"] = value
            for k, item in enumerate(value):
                if isinstance(item, Tensor):
                    self.bind(self.graph.create_node("call_function", operator.getitem, (node, k)), item)

    def _describe(self, node: Node, value: Tensor) -> None:
        node.meta["val"] = value

    def find_node(self, x: Tensor) -> Node | None:
        """Return the node that computes a tensor, or None for tensors created outside of the function."""
        entry = self._nodes.get(id(x)) or self._bind_same_memory(x)
        return None if entry is None else entry[1]

    def node_of(self, x: Any) -> Any:
        """Return the node of a tensor. For a tensor that no node computes, add a `get_attr` node.

        Return values other than tensors unchanged.
        """
        if not isinstance(x, Tensor):
            return x
        if (recorded_node := self.find_node(x)) is not None:
            return recorded_node
        constant = self._constants.get(id(x))
        if constant is None:
            kind = "_param_constant" if isinstance(x, Parameter) else "_tensor_constant"
            name = f"{kind}{sum(n.startswith(kind) for _, n in self._constants.values())}"
            setattr(self.root, name, x)
            constant = self._constants[id(x)] = x, name
        node = self.graph.create_node("get_attr", constant[1])
        self._describe(node, x)
        return node

    def _bind_same_memory(self, x: Tensor) -> tuple[Tensor, Node] | None:
        """Find a recorded tensor with the same memory as `x`. Return (tensor, node), or None if not found.

        Record that the node also computes `x`. Function transforms create tensor objects that share the
        memory of recorded tensors.
        """
        memory = _memory_key(x)
        match = next((entry for entry in self._nodes.values() if _memory_key(entry[0]) == memory), None)
        if match is not None:
            self._nodes[id(x)] = x, match[1]
        return match

    def _argument(self, x: Any) -> Any:
        if isinstance(x, list | tuple):
            return type(x)([self._argument(y) for y in x])
        if isinstance(x, dict):
            return {k: self._argument(y) for k, y in x.items()}
        return self.node_of(x)


def _memory_key(x: Tensor) -> Any:
    """Return a key that is equal for tensors with equal memory, shape, strides and element type."""
    array = x.array
    interface = getattr(array, "__array_interface__", None)
    if interface is None or not interface["shape"] or 0 in interface["shape"]:
        return id(array)
    return interface["data"], interface["shape"], interface["strides"], interface["typestr"]


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """Return the innermost active ProxyTorchDispatchMode of this thread, or None if no mode is active."""
    modes = _get_current_dispatch_mode_stack()
    return next((m for m in reversed(modes) if isinstance(m, ProxyTorchDispatchMode)), None)


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    """Return the names of a function's positional parameters, or arg0, arg1 ... if unknown."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if isinstance(f, Module) or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        parameters = []
    return [parameters[k].name if k < len(parameters) else f"arg{k}" for k in range(count)]


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
    record_stack_traces: bool = False,
    proxy_module_inputs: bool = False,
) -> Callable[..., GraphModule]:
    """Return a function that runs `f` and returns a GraphModule with the operators that `f` called.

    decomposition_table     dict from an overload to a function that runs instead. The operators that the
                            function calls are recorded
    tracing_mode            "real" to run `f` on the arguments, or "fake" to run it on fake tensors

    Raise AssertionError for an unknown `tracing_mode`. Raise NotImplementedError for the mode "symbolic" and
    for `pre_dispatch=True`.
    """
    if tracing_mode not in _MODES:
        raise AssertionError(f"tracing_mode must be one of {_MODES}, got {tracing_mode!r}")
    if tracing_mode == "symbolic" or pre_dispatch:
        refused = "pre_dispatch=True" if pre_dispatch else "tracing_mode='symbolic'"
        raise NotImplementedError(
            f"make_fx traces real and fake tensors, below autograd: {refused} is not supported. "
            "ts.export.export records programs with symbolic sizes."
        )

    @wraps(f)
    def traced(*args: Any) -> GraphModule:
        mode = ProxyTorchDispatchMode(decomposition_table or {})
        fakes = FakeTensorMode(allow_non_fake_inputs=True) if tracing_mode == "fake" else None

        def to_input(x: Any) -> Any:
            if not isinstance(x, Tensor):
                return x
            return x if fakes is None else fakes.from_tensor(x)

        leaves, in_spec = pytree.tree_flatten(args)
        leaves = [to_input(x) for x in leaves]
        names = _parameter_names(f, len(args))
        for name, x in zip(_leaf_names(names, args), leaves, strict=True):
            mode.placeholder(name, x)
        with mode:
            result = f(*pytree.tree_unflatten(leaves, in_spec))
        outputs, out_spec = pytree.tree_flatten(result)
        nested = any(not pytree.tree_structure(x).is_leaf() for x in args)
        if nested:
            mode.graph.output([mode.node_of(x) for x in outputs])
            mode.graph._codegen = _PyTreeCodeGen(PyTreeInfo(names, in_spec, out_spec))
        else:
            mode.graph.output(pytree.tree_map(mode.node_of, result))
        name = type(f).__name__ if isinstance(f, Module) else getattr(f, "__name__", type(f).__name__)
        return GraphModule(mode.root, mode.graph, name)

    return traced


def _leaf_names(names: list[str], args: tuple[Any, ...]) -> list[str]:
    """Return a placeholder name for each pytree leaf of the arguments.

    The leaves of an argument `x` are named x_1, x_2 and so on.
    """
    leaf_names = []
    for name, x in zip(names, args, strict=True):
        leaf_names += [f"{name}_{k + 1}" for k in range(len(pytree.tree_leaves(x)))]
    return leaf_names
