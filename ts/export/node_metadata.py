"""Metadata of exported nodes with PyTorch's keys and names, for graph passes written for PyTorch.

Each line shows a key in the dictionary `meta` of a node:

    "torch_fn"              number and name of a function call, such as ("relu_1", "function.relu")
    "tensor_meta"           shape, dtype, strides and memory format of a tensor
    "unbacked_bindings"     unbacked symbols that the node defines, and their positions in its value

Nodes of sizes get PyTorch's names, such as `sym_size_int_1`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from ts._core.dispatch import modes
from ts._core.tensor.sym_types import SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts.backends.meta.array import MetaArray
from ts.export.shape_env import ShapeEnv
from ts.export.sympy_functions import is_of_data
from ts.fx.experimental.symbolic_shapes import CallMethodKey
from ts.fx.graph import Graph
from ts.fx.node import Node
from ts.fx.passes.shape_prop import TensorMetadata, _extract_tensor_metadata
from ts.ops.namespace import OpOverload
from ts.ops.registry import field_by_name
from ts.utils import _pytree as pytree
from ts.utils._pytree_nodes import SequenceKey

_INSERTED_BY_EXPORT: Final = field_by_name("inserted_by_export")
_EMPTY_MODULE_STACK: Final = "_empty_nn_module_stack_from_metadata_hook"


class FunctionCounter:
    """Function mode that counts the calls of each function, and records the outermost running call.

    The counter cannot distinguish `ts.f(x)` from `x.f()`. If tensors have a method `f`, both calls count as
    method calls.
    """

    def __init__(self) -> None:
        self.current: tuple[str, str] | None = None
        self._counts: Counter[str] = Counter()

    def __enter__(self) -> FunctionCounter:
        modes.push(self)
        return self

    def __exit__(self, *error: object) -> None:
        modes.pop()

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        before = self.current
        name = str(getattr(func, "__name__", type(func).__name__))
        if before is None:
            self.current = self._count(name), f"{_kind_of(func, name)}.{name}"
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.current = before

    def function_of(self, target: Any) -> tuple[str, str]:
        """Return the metadata `torch_fn` of a node: ("relu_1", "function.relu").

        The function is that of the outermost running call. If no call runs, it is `target`.
        """
        if not isinstance(target, OpOverload):
            name = str(getattr(target, "__name__", type(target).__name__))
            return self.current or (f"{name}_0", f"builtin_function_or_method.{name}")
        if _INSERTED_BY_EXPORT[target.operator.name]:
            return f"{target.__name__}_0", f"OpOverload.{target.__name__}"
        if self.current is not None:
            return self.current
        method = target.overloadpacket.__name__
        return self._count(method), f"method_descriptor.{method}"

    def _count(self, name: str) -> str:
        """Increment the number of calls of the function `name`, and return the name with this number."""
        self._counts[name] += 1
        return f"{name}_{self._counts[name]}"


def _kind_of(function: Any, name: str) -> str:
    """Return the name of the type that `function` has in PyTorch, such as `method_descriptor`."""
    if type(function).__name__ == "OverloadSet":
        return "method_descriptor" if hasattr(Tensor, name) else "builtin_function_or_method"
    return "function" if type(function).__name__ == "Overridable" else type(function).__name__


def _symbol_in(n: Any) -> Any:
    """Return the SymPy symbol of a symbolic number, or None if its expression is not a bare symbol.

    Data-dependent numbers have their own symbols, even if the symbol is known to equal an expression.
    """
    if not isinstance(n, SymNumber):
        return None
    expression = n.node.expression if is_of_data(n.node.expression) else n.node.expr
    return expression if expression.is_Symbol else None


def rename_size_nodes(graph: Graph, used_sizes: int) -> dict[str, str]:
    """Rename size nodes to `sym_size_int_N`, and return a dict from previous to new names.

    The numbers N equal those in PyTorch, which first creates one node for each size of the inputs. PyTorch
    counts these nodes from `used_sizes` on (the number of sizes that the program reads), and then deletes
    unused nodes.
    """
    numbers: dict[Any, int] = {}
    for node in graph.nodes:
        value = node.meta.get("val")
        for n in value.array.shape if isinstance(value, Tensor) else ():
            symbol = _symbol_in(n)
            if symbol is None or symbol in numbers:
                continue
            if node.op == "placeholder" or is_of_data(symbol):
                numbers[symbol] = used_sizes + len(numbers)
    renamed = {}
    sizes = [n for n in graph.nodes if str(n.target) == "aten.sym_size.int"]
    for node in sizes:
        value = node.meta["val"]
        index = numbers.get(_symbol_in(value))
        name = f"sym_size_int_{index}" if index else "sym_size_int"
        before = node.name
        if name != before:
            node._rename(name)
            renamed[before] = node.name
        if isinstance(node.args[0], Node) and node.args[0].op == "placeholder":
            node.meta.pop("stack_trace", None)
            if "nn_module_stack" in node.meta:
                node.meta["nn_module_stack"] = {
                    _EMPTY_MODULE_STACK: (_EMPTY_MODULE_STACK, _EMPTY_MODULE_STACK)
                }
    return renamed


def count_used_sizes(graph: Graph) -> int:
    """Return the number of size nodes that have users."""
    return sum(str(n.target) == "aten.sym_size.int" and bool(n.users) for n in graph.nodes)


def add_tensor_metadata(graph: Graph, environment: ShapeEnv) -> None:
    """Set `tensor_meta` of nodes with a tensor, and `unbacked_bindings` of nodes with new symbols."""
    bound_symbols: set[Any] = set()
    # (shape, strides, dtype, requires_grad) -> metadata of tensors with sizes that are numbers
    metadata: dict[Any, TensorMetadata] = {}
    with environment.guessing():
        for node in graph.nodes:
            value = node.meta.get("val")
            if isinstance(value, Tensor):
                array = value.array
                if type(array) is MetaArray and SymInt not in map(type, (*array.shape, *array.strides)):
                    key = array.shape, array.strides, value.dtype, value.requires_grad
                    if (known := metadata.get(key)) is None:
                        known = metadata[key] = _extract_tensor_metadata(value)
                    node.meta["tensor_meta"] = TensorMetadata(*known[:-1], {})
                    continue  # the sizes contain no symbols
                node.meta["tensor_meta"] = _extract_tensor_metadata(value)
            if node.op == "call_function" and (bindings := _new_bindings(value, bound_symbols)):
                node.meta["unbacked_bindings"] = bindings


def _new_bindings(value: Any, bound_symbols: set[Any]) -> dict[Any, tuple[Any, ...]]:
    """Return the data-dependent symbols of `value` outside of `bound_symbols`: symbol -> path in `value`.

    Add the returned symbols to `bound_symbols`.
    """
    bindings: dict[Any, tuple[Any, ...]] = {}
    for path, leaf in pytree.tree_leaves_with_path(value):
        numbers: list[tuple[tuple[Any, ...], Any]] = [(tuple(path), leaf)]
        if isinstance(leaf, Tensor):
            numbers = [
                ((*path, CallMethodKey("size"), SequenceKey(dim)), n)
                for dim, n in enumerate(leaf.array.shape)
            ]
        for number_path, n in numbers:
            symbol = _symbol_in(n)
            if symbol is None or symbol in bound_symbols or not is_of_data(symbol):
                continue
            bound_symbols.add(symbol)
            bindings[symbol] = number_path
    return bindings
