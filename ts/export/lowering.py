"""Lowering of an exported graph to script IR, which is then optimized like a script.

A node of a `ts.fx` graph (left) becomes a node of a script graph (right):

    mul = torch.ops.aten.mul.Tensor(x, 2)         %mul : Tensor = aten::mul(%x, %2)
    add = sym_size + 1                            %add : int = aten::add(%sym_size, %1)

Supported nodes call operators, or Python functions on numbers. Other nodes raise `UnsupportedNodeError`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import ts
from ts import dtypes
from ts._core.builtin_ops.properties import SYMBOLIC_SIZES, names_with
from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.map import EMPTY_DIMENSION_ERROR, UNEQUAL_DIMENSIONS_ERROR
from ts._higher_order_ops.operator import HigherOrderOperator
from ts._higher_order_ops.scan import TOO_SHORT
from ts.export import sympy_functions
from ts.export.intervals import EVERYTHING
from ts.export.size_operations import SCRIPT_OPERATORS
from ts.export.value_ranges import value_range
from ts.fx.graph_module import GraphModule
from ts.fx.impurity import is_impure
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
from ts.ops.namespace import OpOverload, overload_named
from ts.ops.node_schema import find_operator

# (Python types of an input's example value, type of the input in the script)
_TYPES: Final[tuple[tuple[tuple[type, ...], Type], ...]] = (
    ((Tensor,), TENSOR), ((bool, SymBool), BOOL), ((int, SymInt), INT), ((float, SymFloat), FLOAT),
    ((str,), STR),
)  # fmt: skip


_MAX_ITERATIONS: Final = (1 << 63) - 1
# Class name of the error that a compiled program raises for an integer of more than 64 bits. The caller then
# runs the Python code, which has no such limit.
OVERFLOW_ERROR: Final = "builtins.OverflowError"
# Limit of the absolute value of integers. It is below 2 ** 63, because the check uses floats, which are
# inexact for large integers.
_INT64_LIMIT: Final = 2.0**62
_ASSERTION: Final = overload_named("aten::_assert_scalar", "")
_MAX_SIZE: Final = (1 << 31) - 1  # the product of two sizes that are at most this large fits into 64 bits


class UnsupportedNodeError(Exception):
    """Raised for a node that script IR cannot represent."""


def lower_graph_module(
    module: GraphModule, state: Sequence[Node] = (), skipped: Collection[Node] = ()
) -> Callable[..., Any]:
    """Compile the graph of `module` to a scripted function, which returns the graph's outputs as a list.

    state     `get_attr` nodes that become inputs of the function, before the inputs of the graph
    skipped   nodes that are not compiled

    Raise UnsupportedNodeError for nodes that scripts cannot express.

    The function raises a ScriptRuntimeError if an integer exceeds 64 bits. If the class of the error is
    OVERFLOW_ERROR, the caller can run the Python code instead. If the graph has side effects, the class is
    RuntimeError, because a second run would repeat them.
    """
    from ts.runtime.function import create_function_from_graph

    graph = Graph()
    lowering = _Lowering(graph, module)
    for node in state:
        lowering.values[node] = graph.add_input(node.name, TENSOR)
    inputs = [
        graph.add_input(node.name, _type_of(node.meta.get("val")))
        for node in module.graph.nodes
        if node.op == "placeholder"
    ]
    lowering.values.update(dict.fromkeys(skipped))
    results = lowering.results(inputs)
    for value in results:
        graph.register_output(value)
    function = create_function_from_graph("exported", graph)
    if len(results) == 1:
        return lambda *args: [function(*args)]
    return lambda *args: list(function(*args))


class _Lowering:
    """Lowering of one `ts.fx` graph: the graph of a program, or of a control-flow operator's function."""

    def __init__(self, graph: Graph, module: GraphModule, around: _Lowering | None = None) -> None:
        self.graph = graph
        self.module = module
        # True if the graph has side effects. Then Python must not run it again after an overflow.
        self.has_side_effects: bool = around.has_side_effects if around else _has_side_effects(module)
        # node -> Value of its result, or a list of Values if it has several results
        self.values: dict[Node, Any] = {}

    def results(self, inputs: Sequence[Value]) -> list[Value]:
        """Emit the module's graph at the insertion point, and return the graph's results for `inputs`."""
        remaining_inputs = iter(inputs)
        for node in self.module.graph.nodes:
            if node in self.values:
                continue
            if node.op == "placeholder":
                self.values[node] = next(remaining_inputs)
            elif node.op == "output":
                outputs = node.args[0]
                return [
                    self._value(x, None)
                    for x in (outputs if isinstance(outputs, list | tuple) else [outputs])
                ]
            elif node.op == "call_function":
                self.values[node] = self._call(node)
            elif node.op == "get_attr":
                # the attribute is a constant tensor, or the subgraph of a control-flow operator
                attribute = getattr(self.module, str(node.target))
                self.values[node] = (
                    self._value(attribute, TENSOR) if isinstance(attribute, Tensor) else attribute
                )
            else:
                raise UnsupportedNodeError(f"{node.op} {node.target}")
        raise UnsupportedNodeError("a graph without results")

    def _call(self, node: Node) -> Any:
        target = node.target
        if isinstance(target, OpOverload):
            size = SYMBOLIC_SIZES.get(target.name())
            if size is not None:
                return self.graph.insert(size, [self._value(x, None) for x in node.args])
            return self._operator(target, node)
        if target is operator.getitem:
            return self._item(*node.args)
        if isinstance(target, HigherOrderOperator):
            if target.name == "cond":
                return self._branch(*node.args)
            if target.name == "while_loop":
                return self._loop(*node.args)
            if target.name == "map_impl":
                return self._map(*node.args)
            if target.name == "scan":
                return self._scan(*node.args)
        kind = SCRIPT_OPERATORS.get(target)
        if target is operator.pow and not isinstance(node.meta.get("val"), SymFloat):
            # In scripts, `pow` of two ints is a float.
            raise UnsupportedNodeError("a power of integers")
        if kind is None or node.kwargs:
            raise UnsupportedNodeError(f"a call of {target}")
        operands = [self._value(x, None) for x in node.args]
        value = node.meta.get("val")
        if (
            kind in names_with("may_overflow")
            and all(x.type() in (INT, NUMBER) for x in operands)
            and _may_be_long(value)
        ):
            if self.has_side_effects and not _is_of_sizes(value):
                raise UnsupportedNodeError("side effects in a program with integers that may exceed 64 bits")
            self._check_overflow(kind, operands)
        output = self.graph.insert(kind, operands)
        if find_operator(output.node()) is None:
            raise UnsupportedNodeError(f"{kind} with these argument types")
        return output

    def _check_overflow(self, kind: str, operands: list[Value]) -> None:
        """Emit code that raises an error if the result of an integer operator exceeds 64 bits.

        `kind` is the operator, and `operands` are its operands. `lower_graph_module` describes the error.
        """
        size = self.graph.insert(kind, [self.graph.insert("aten::Float", [x]) for x in operands])
        is_long = self.graph.insert("aten::gt", [self.graph.insert("prim::abs", [size]), _INT64_LIMIT])
        error = "builtins.RuntimeError" if self.has_side_effects else OVERFLOW_ERROR
        self._raise_if(is_long, "an integer of the program has more than 64 bits", error)

    def _item(self, source: Any, index: Any) -> Any:
        value = self.values[source]
        if isinstance(value, list):
            return value[index]
        if isinstance(value.type(), TupleType):
            raise UnsupportedNodeError("an operator that returns a tuple")
        return self.graph.insert("aten::__getitem__", [value, index])

    def _branch(self, truth: Any, first: Any, second: Any, operands: Any) -> list[Value]:
        """Lower `cond` to an If node whose blocks are the two branches."""
        inputs = [self._value(x, None) for x in operands]
        node = self.graph.insert_node(self.graph.create_if(self._truth(self._value(truth, None))))
        branch_results: list[list[Value]] = []
        for block, branch in zip(node.blocks(), (first, second), strict=True):
            with self.graph.inserting_at_end(block):
                branch_results.append(self._inline_subgraph(branch, inputs))
            for value in branch_results[-1]:
                block.register_output(value)
        if [v.type() for v in branch_results[0]] != [v.type() for v in branch_results[1]]:
            raise UnsupportedNodeError("branches with results of different types")
        return [node.add_output().set_type(value.type()) for value in branch_results[0]]

    def _loop(self, condition: Any, body: Any, carried: Any, others: Any) -> list[Value]:
        """Lower `while_loop` to a Loop node. The condition runs before the first and after each iteration."""
        graph = self.graph
        start = [self._value(x, None) for x in carried]
        more = [self._value(x, None) for x in others]
        goes_on = self._truth(self._inline_subgraph(condition, [*start, *more])[0])
        node = graph.insert_node(graph.create_loop(self._value(_MAX_ITERATIONS, INT), goes_on, start))
        (block,) = node.blocks()
        inside = list(block.inputs())[1:]
        with graph.inserting_at_end(block):
            results = self._inline_subgraph(body, [*inside, *more])
            goes_on = self._truth(self._inline_subgraph(condition, [*results, *more])[0])
        for value in (goes_on, *results):
            block.register_output(value)
        if [v.type() for v in results] != [v.type() for v in start]:
            raise UnsupportedNodeError("a loop whose carried values change their types")
        return list(node.outputs())

    def _map(self, body: Any, xs: Any, others: Any) -> list[Value]:
        """Lower `map_impl` to a Loop over the rows of the tensors `xs`.

        The loop collects the rows of each result in a list.
        """
        graph = self.graph
        more = [self._value(x, None) for x in others]
        rows = [graph.insert("aten::unbind", [self._value(x, TENSOR), 0]) for x in xs]
        count, *lengths = [graph.insert("aten::len", [each]) for each in rows]
        self._raise_if(graph.insert("aten::eq", [count, 0]), EMPTY_DIMENSION_ERROR)
        for length in lengths:
            self._raise_if(graph.insert("aten::ne", [length, count]), UNEQUAL_DIMENSIONS_ERROR)

        def emit_iteration(iteration: Value) -> list[Value]:
            return self._inline_subgraph(
                body, [*(graph.insert("aten::__getitem__", [r, iteration]) for r in rows), *more]
            )

        return self._stacked(
            self._emit_loop(count, [], lambda iteration, _: ([], emit_iteration(iteration)))[1]
        )

    def _scan(self, body: Any, init: Any, xs: Any, others: Any) -> list[Value]:
        """Lower `scan` to a Loop over the first dimension.

        The loop collects the outputs of the steps in lists.
        """
        graph = self.graph
        start, sequences, more = (
            [self._value(x, None) for x in arguments] for arguments in (init, xs, others)
        )
        count = graph.insert("aten::size", [sequences[0], 0])
        self._raise_if(graph.insert("aten::eq", [count, 0]), TOO_SHORT)

        def emit_iteration(iteration: Value, carried: list[Value]) -> tuple[list[Value], list[Value]]:
            slices = [graph.insert("aten::select", [x, 0, iteration]) for x in sequences]
            outputs = self._inline_subgraph(body, [*carried, *slices, *more])
            return outputs[: len(start)], outputs[len(start) :]

        carried, columns = self._emit_loop(count, start, emit_iteration)
        return [*carried, *self._stacked(columns)]

    def _emit_loop(
        self,
        count: Value,
        start: list[Value],
        step: Callable[[Value, list[Value]], tuple[list[Value], list[Value]]],
    ) -> tuple[list[Value], list[Value]]:
        """Emit a Loop of `count` iterations. `step` emits the nodes of the loop body.

        `step(iteration, carried)` returns the next carried values and the outputs of one iteration. Return
        the last carried values, and a list of values for each output, with one value per iteration.
        """
        graph = self.graph
        node = graph.insert_node(graph.create_loop(count, self._value(True, BOOL), start))
        (block,) = node.blocks()
        iteration, *inside = block.inputs()
        with graph.inserting_at_end(block):
            carried, step_outputs = step(iteration, inside)
            goes_on = self._value(True, BOOL)
        for value in (goes_on, *carried):
            block.register_output(value)
        if [v.type() for v in carried] != [v.type() for v in start]:
            raise UnsupportedNodeError("a loop whose carried values change their types")
        columns = []
        for value in step_outputs:
            if value.type() is NONE:
                columns.append(self._value(None, None))
                continue
            if value.type() is not TENSOR:
                raise UnsupportedNodeError("a loop with results that are not tensors")
            list_node = graph.create("prim::ListConstruct").insert_before(node)
            columns.append(list_node.output().set_type(ListType(TENSOR)))
            with graph.inserting_at_end(block):
                graph.insert("aten::append", [columns[-1], value])
        return list(node.outputs()), columns

    def _stacked(self, columns: list[Value]) -> list[Value]:
        """Stack each list of tensors along a new first dimension."""
        return [
            x if x.type() is NONE else self.graph.insert("aten::stack", [x, 0], type=TENSOR) for x in columns
        ]

    def _raise_if(self, truth: Value, message: str, error: str = "builtins.RuntimeError") -> None:
        """Emit code that raises an exception at run time if `truth` is true."""
        node = self.graph.insert_node(self.graph.create_if(truth))
        with self.graph.inserting_at_end(node.blocks()[0]):
            raised = self.graph.create(
                "prim::RaiseException",
                [self._value(message, STR), self._value(error, STR)],
                0,
            )
            self.graph.insert_node(raised)

    def _inline_subgraph(self, module: Any, inputs: list[Value]) -> list[Value]:
        """Emit the nodes of a subgraph at the insertion point, and return its results for `inputs`."""
        subgraph = self.values[module] if isinstance(module, Node) else None
        if not isinstance(subgraph, GraphModule):
            raise UnsupportedNodeError("a branch or loop whose graph is not an attribute of the program")
        return _Lowering(self.graph, subgraph, self).results(inputs)

    def _truth(self, value: Value) -> Value:
        return value if value.type() is BOOL else self.graph.insert("aten::Bool", [value])

    def _operator(self, target: OpOverload, node: Node) -> Any:
        """Emit an operator node, with all arguments of the schema, defaults included."""
        op, graph = target.operator, self.graph
        options = dict(node.kwargs)
        values = []
        for i, argument in enumerate(op.schema.arguments):
            if i < len(node.args):
                x: Any = node.args[i]
            elif argument.name in options:
                x = options[argument.name]
            elif argument.default_value is not None or isinstance(argument.type, OptionalType):
                x = argument.default_value
            else:
                raise UnsupportedNodeError(f"{op.key} without {argument.name}")
            values.append(self._value(x, argument.type))
        call = graph.insert_node(graph.create(op.name, values, len(op.schema.returns)))
        resolved_operator = find_operator(call)
        schema = None if resolved_operator is None else resolved_operator.schema
        if schema is None or len(schema.returns) != len(op.schema.returns):
            raise UnsupportedNodeError(f"{op.key} with these arguments")
        outputs = call.outputs()
        for value, returned in zip(outputs, schema.returns, strict=True):
            value.set_type(returned.type)
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def _value(self, x: Any, type: Type | None) -> Value:
        """Convert a node argument to a Value of the expected type."""
        if isinstance(type, OptionalType) and x is not None:
            type = type.elem
        graph = self.graph
        if isinstance(x, Node):
            value = self.values[x]
            if isinstance(value, list):
                raise UnsupportedNodeError(f"all results of {x} at once")
            if type is FLOAT and value.type() is INT:
                return graph.insert("aten::Float", [value])
            return graph.insert("aten::Int", [value]) if type is NUMBER and value.type() is BOOL else value
        if isinstance(x, list | tuple) and isinstance(type, ListType):
            items = [self._value(y, type.elem) for y in x]
            node = graph.insert_node(graph.create("prim::ListConstruct", items))
            return node.output().set_type(type)
        if isinstance(type, ListType) and isinstance(x, int | float) and not isinstance(x, bool):
            # For example, a window size can be one number in PyTorch.
            raise UnsupportedNodeError("a number as a list argument")
        if isinstance(x, dtypes.dtype | dtypes.layout | dtypes.memory_format):
            x = x.code
        if type is NUMBER and isinstance(x, bool):
            raise UnsupportedNodeError("a bool as a number argument")
        if type is FLOAT and isinstance(x, int):
            x = float(x)
        constant = graph.try_insert_constant(x, type=DEVICE if isinstance(x, ts.device) else None)
        if constant is None:
            raise UnsupportedNodeError(f"a constant of {x.__class__}")
        return constant


def _has_side_effects(module: GraphModule) -> bool:
    """Return True if the graph has side effects besides assertions."""
    calls = (n.target for n in module.graph.nodes if n.op == "call_function")
    return any(is_impure(target) and target is not _ASSERTION for target in calls) or any(
        _has_side_effects(inner) for inner in module.children() if isinstance(inner, GraphModule)
    )


def _may_be_long(value: Any) -> bool:
    """Return True if an integer node may have values above 64 bits. `value` is its recorded value."""
    if not isinstance(value, SymInt):
        # None means that the node was added after the export, so its value is unknown. Values of other types
        # fit in 64 bits.
        return value is None
    ranges = {}
    for symbol in value.node.expression.free_symbols:
        value_bounds = value.node.environment.ranges.get(symbol, EVERYTHING)
        if not sympy_functions.is_of_data(symbol):
            value_bounds = value_bounds._replace(high=min(value_bounds.high, _MAX_SIZE))
        ranges[symbol] = value_bounds
    low, high = value_range(value.node.expression, ranges)
    return not -_INT64_LIMIT < low <= high < _INT64_LIMIT


def _is_of_sizes(value: Any) -> bool:
    """Return True if `value` is symbolic and depends only on sizes and values of arguments, not on data."""
    return isinstance(value, SymInt) and not any(
        map(sympy_functions.is_of_data, value.node.expression.free_symbols)
    )


def _type_of(value: Any) -> Type:
    """Return the script type of a graph input with the recorded value `value`."""
    if value is None:
        return NONE
    for classes, type in _TYPES:
        if isinstance(value, classes):
            return type
    raise UnsupportedNodeError(f"an argument of {value.__class__}")
