"""An exported graph as a graph of the compiler: operators become nodes of the one IR, which is optimised.

    mul = torch.ops.aten.mul.Tensor(x, 2)         %mul : Tensor = aten::mul(%x, %2)
    add = sym_size + 1                            %add : int = aten::add(%sym_size, %1)

In: a module of `ts.fx` whose nodes call single overloads, and functions of Python on numbers.  Out: a
scripted function; `Unsupported` where a node is of another kind (control flow on graphs ...).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

import ts
from ts import dtypes
from ts._core.tensor.symbols import SymBool, SymFloat, SymInt
from ts._core.tensor.tensor import Tensor
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.ir.graph import Graph, Value
from ts.ir.types import (
    BOOL,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STR,
    TENSOR,
    ListType,
    OptionalType,
    TupleType,
    Type,
)  # fmt: skip
from ts.ops.namespace import OpOverload
from ts.ops.node_operator import find_operator

_FUNCTIONS: Final[dict[Any, str]] = {
    operator.add: "aten::add", operator.sub: "aten::sub", operator.mul: "aten::mul",
    operator.neg: "aten::neg", operator.floordiv: "aten::floordiv", operator.mod: "aten::remainder",
    operator.truediv: "aten::div",
    operator.pow: "aten::pow", operator.eq: "aten::eq", operator.ne: "aten::ne", operator.lt: "aten::lt",
    operator.le: "aten::le", operator.gt: "aten::gt", operator.ge: "aten::ge", operator.and_: "aten::__and__",
    operator.or_: "aten::__or__", ts.sym_not: "aten::__not__", ts.sym_float: "aten::Float",
    ts.sym_int: "aten::Int", ts.sym_max: "prim::max", ts.sym_min: "prim::min", ts.sym_sqrt: "aten::sqrt",
    math.floor: "aten::floor", math.ceil: "aten::ceil",
}  # fmt: skip
_SIZES: Final = {
    "aten::sym_size.int": "aten::size", "aten::sym_stride.int": "aten::stride",
    "aten::sym_numel": "aten::numel",
}  # fmt: skip

_TYPES: Final[tuple[tuple[tuple[type, ...], Type], ...]] = (  # of inputs
    ((Tensor,), TENSOR), ((bool, SymBool), BOOL), ((int, SymInt), INT), ((float, SymFloat), FLOAT),
    ((str,), STR),
)  # fmt: skip


class Unsupported(Exception):
    """A node that the compiler's graphs have no form for."""


def lowered(module: GraphModule) -> Callable[..., Any]:
    """A scripted function of the graph's inputs, that gives its outputs as a list."""
    from ts.runtime.function import create_function_from_graph

    lowering = _Lowering()
    for node in module.graph.nodes:
        lowering.node(node)
    function = create_function_from_graph("exported", lowering.graph)
    if lowering.outputs == 1:
        return lambda *args: [function(*args)]
    return lambda *args: list(function(*args))


class _Lowering:
    def __init__(self) -> None:
        self.graph = Graph()
        self.values: dict[Node, Any] = {}  # a Value; a list of them of an operator with several results
        self.outputs = 0

    def node(self, node: Node) -> None:
        """Make what a node is."""
        if node.op == "placeholder":
            self.values[node] = self.graph.add_input(node.name, _type_of(node.meta.get("val")))
        elif node.op == "output":
            results = node.args[0]
            for x in results if isinstance(results, list | tuple) else [results]:
                self.graph.register_output(self._value(x, None))
                self.outputs += 1
        elif node.op == "call_function":
            self.values[node] = self._call(node)
        else:
            raise Unsupported(f"{node.op} {node.target}")

    def _call(self, node: Node) -> Any:
        target = node.target
        if isinstance(target, OpOverload):
            size = _SIZES.get(target.name())
            if size is not None:
                return self.graph.insert(size, [self._value(x, None) for x in node.args])
            return self._operator(target, node)
        if target is operator.getitem:
            return self._item(*node.args)
        kind = _FUNCTIONS.get(target)
        if target is operator.pow and not isinstance(node.meta.get("val"), SymFloat):
            raise Unsupported("a power of whole numbers")  # the compiler's is a float
        if kind is None or node.kwargs:
            raise Unsupported(f"a call of {target}")
        found = self.graph.insert(kind, [self._value(x, None) for x in node.args])
        if find_operator(found.node()) is None:
            raise Unsupported(f"{kind} on these numbers")
        return found

    def _item(self, source: Any, index: Any) -> Any:
        found = self.values[source]
        if isinstance(found, list):
            return found[index]
        if isinstance(found.type(), TupleType):
            raise Unsupported("a tuple from an operator")
        return self.graph.insert("aten::__getitem__", [found, index])

    def _operator(self, target: OpOverload, node: Node) -> Any:
        """The node of an operator, with all arguments of its schema."""
        op, graph = target.operator, self.graph
        given = dict(node.kwargs)
        values = []
        for i, argument in enumerate(op.schema.arguments):
            if i < len(node.args):
                x: Any = node.args[i]
            elif argument.name in given:
                x = given[argument.name]
            elif argument.default_value is not None or isinstance(argument.type, OptionalType):
                x = argument.default_value
            else:
                raise Unsupported(f"{op.key} without {argument.name}")
            values.append(self._value(x, argument.type))
        made = graph.insert_node(graph.create(op.name, values, len(op.schema.returns)))
        found = find_operator(made)
        schema = None if found is None else found.schema
        if schema is None or len(schema.returns) != len(op.schema.returns):
            raise Unsupported(f"{op.key} with these arguments")
        outputs = made.outputs()
        for value, returned in zip(outputs, schema.returns, strict=True):
            value.set_type(returned.type)
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def _value(self, x: Any, type: Type | None) -> Value:
        """An argument as a value, of the type that is wanted of it."""
        if isinstance(type, OptionalType) and x is not None:
            type = type.elem
        graph = self.graph
        if isinstance(x, Node):
            found = self.values[x]
            if isinstance(found, list):
                raise Unsupported(f"all results of {x} at once")
            if type is FLOAT and found.type() is INT:
                return graph.insert("aten::Float", [found])
            return graph.insert("aten::Int", [found]) if type is NUMBER and found.type() is BOOL else found
        if isinstance(x, list | tuple) and isinstance(type, ListType):
            items = [self._value(y, type.elem) for y in x]
            node = graph.insert_node(graph.create("prim::ListConstruct", items))
            return node.output().set_type(type)
        if isinstance(type, ListType) and isinstance(x, int | float) and not isinstance(x, bool):
            raise Unsupported("a number for a list")  # as schemas of windows take it
        if isinstance(x, dtypes.dtype | dtypes.layout | dtypes.memory_format):
            x = x.code
        if type is NUMBER and isinstance(x, bool):
            raise Unsupported("a truth for a number")
        if type is FLOAT and isinstance(x, int):
            x = float(x)
        made = graph.try_insert_constant(x, type=DEVICE if isinstance(x, ts.device) else None)
        if made is None:
            raise Unsupported(f"a constant of {x.__class__}")
        return made


def _type_of(value: Any) -> Type:
    """The type of an input."""
    if value is None:
        return NONE
    for classes, type in _TYPES:
        if isinstance(value, classes):
            return type
    raise Unsupported(f"an argument of {value.__class__}")
