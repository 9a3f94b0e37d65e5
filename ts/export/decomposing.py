"""`run_decompositions`: a program again, without writes, in operators of the core set.

The graph runs once more on its fake tensors, node by node, under a `FunctionalRecorder`.  What it writes to
its inputs becomes outputs, before the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import ts
from ts._core.tensor.symbols import Symbolic
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.operator import HigherOrderOperator
from ts.export.decompositions import table
from ts.export.environment import Environment
from ts.export.expressions import is_of_data
from ts.export.functional import FunctionalRecorder
from ts.export.signature import (
    ExportGraphSignature,
    InputKind,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.ops import registry
from ts.ops.namespace import OpOverload, overload_named

if TYPE_CHECKING:
    from ts.export.program import ExportedProgram

_SIZES = frozenset(("aten::sym_size.int", "aten::sym_stride.int", "aten::sym_numel"))
_WRITTEN = {
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}


def decomposed(program: ExportedProgram, decompositions: Mapping[Any, Any] | None) -> ExportedProgram:
    """The program in operators of the core set, or without those that a table of the caller's names."""
    known = table.core() if decompositions is None else _by_key(decompositions)
    frozen, program.environment.frozen = program.environment.frozen, True
    try:
        module, signature = _Run(program.graph_module, program.environment, known).program(
            program.graph_signature
        )
    finally:
        program.environment.frozen = frozen
    made = type(program)(
        module, signature, program.state_dict, program.range_constraints, program.call_spec,
        program.example_inputs, program.constants, program._guards, program.environment,
    )  # fmt: skip
    made._argument_names = program._argument_names
    return made


def default_decompositions() -> dict[Any, Callable[..., Any]]:
    """The table of `run_decompositions()`, by operator: it may be changed, and given to it."""
    found = {}
    for key, function in table.core().items():
        operator = registry.operator(key)
        if operator is not None:
            found[overload_named(operator.name, operator.overload)] = function
    return found


def _by_key(decompositions: Mapping[Any, Any]) -> table.Table:
    return {op.name() if isinstance(op, OpOverload) else str(op): f for op, f in decompositions.items()}


class _Results(NamedTuple):
    """What a node of control flow gave: its node again, and the fake results."""

    node: Node
    values: Any


class _Run:
    """One graph again: the program's, or that of a branch or loop in it."""

    def __init__(self, module: GraphModule, environment: Environment, decompositions: table.Table) -> None:
        self.module = module
        self.environment = environment
        self.decompositions = decompositions
        self.recorder = FunctionalRecorder(environment, decompositions)
        self.submodules: dict[str, GraphModule] = {}
        self.values: dict[Node, Any] = {}
        self.inputs: list[Any] = []

    def program(self, signature: ExportGraphSignature) -> tuple[GraphModule, ExportGraphSignature]:
        """The program's graph, with what it writes to its inputs among its outputs."""
        leaves = self._run()
        with ts.no_grad():
            nodes, specs = self._outputs(list(leaves), signature)
        return self._module(tuple(nodes)), ExportGraphSignature(list(signature.input_specs), specs)

    def subgraph(self) -> GraphModule:
        """The graph of a branch or loop."""
        result = self._run()
        several = isinstance(result, list | tuple)
        return self._module(self.recorder.node_of(tuple(result) if several else result))

    def _run(self) -> Any:
        result: Any = ()
        with ts.no_grad():
            for node in self.module.graph.nodes:
                if node.op == "placeholder":
                    self.inputs.append(self._input(node))
                elif node.op == "output":
                    result = self._values(node.args[0])
                else:
                    self.recorder.origin = node
                    self.values[node] = self._again(node)
        return result

    def _module(self, result: Any) -> GraphModule:
        graph = self.recorder.graph
        graph.output(result)
        graph.eliminate_dead_code(lambda node: node.is_impure(impure_random=False))
        return GraphModule(self.submodules, graph)

    def _input(self, node: Node) -> Any:
        value = node.meta.get("val")
        made = self.recorder.placeholder(node.name, value)
        made.meta = dict(node.meta)
        self.values[node] = value
        return value

    def _again(self, node: Node) -> Any:
        """What a node gives, recorded."""
        if node.op == "get_attr":
            return self._attribute(node)
        args, kwargs = self._values(node.args), self._values(node.kwargs)
        target = node.target
        value = node.meta.get("val")
        if isinstance(target, HigherOrderOperator):
            made = self.recorder._call(
                target, self.recorder.node_of(args), value, self.recorder.node_of(kwargs)
            )
            return _Results(made, value)
        if args and isinstance(args[0], _Results):
            (results, index), found = args, args[0].values[args[1]]
            self.recorder._bind(self.recorder._call(target, (results.node, index), found), found)
            return found
        if isinstance(value, Symbolic) and (not isinstance(target, OpOverload) or target.name() in _SIZES):
            return self._number(target, args, value)
        if not isinstance(target, OpOverload):
            with self.recorder.recording():
                return target(*args, **kwargs)  # type: ignore[operator]
        op, values, _ = target.resolve(args, kwargs)
        self.environment.recycled = deque(_data_symbols(value))
        return self.recorder.run(op, values)

    def _attribute(self, node: Node) -> Node:
        """A graph of a branch or loop, decomposed."""
        name = str(node.target)
        found = getattr(self.module, name)
        if isinstance(found, GraphModule) and name not in self.submodules:
            self.submodules[name] = _Run(found, self.environment, self.decompositions).subgraph()
        made = self.recorder.graph.create_node("get_attr", name)
        made.meta = dict(node.meta)
        return made

    def _number(self, target: Any, args: Any, value: Symbolic) -> Symbolic:
        """A number that is computed of numbers, or asked of a tensor: the same symbol."""
        recorder, expression = self.recorder, value.node.expr
        if expression not in recorder._numbers:
            recorder._numbers[expression] = recorder._call(target, tuple(map(recorder.node_of, args)), value)
        return value

    def _values(self, x: Any) -> Any:
        """The arguments of a node, with what their nodes gave."""
        if isinstance(x, Node):
            return self.values[x]
        if isinstance(x, list | tuple):
            made = [self._values(y) for y in x]
            return tuple(made) if type(x) is tuple else made
        if isinstance(x, dict):
            return {k: self._values(y) for k, y in x.items()}
        if isinstance(x, slice):
            return slice(*(self._values(y) for y in (x.start, x.stop, x.step)))
        return x

    def _outputs(
        self, leaves: list[Any], signature: ExportGraphSignature
    ) -> tuple[list[Any], list[OutputSpec]]:
        """What was written of the inputs; then the results."""
        recorder, nodes, specs = self.recorder, [], []
        for value, spec in zip(self.inputs, signature.input_specs, strict=True):
            if isinstance(value, Tensor) and recorder.written(value):
                node = recorder.node_of(value)
                target = spec.arg.name if spec.kind is InputKind.USER_INPUT else spec.target
                nodes.append(node)
                specs.append(OutputSpec(_WRITTEN[spec.kind], TensorArgument(node.name), target))
        for x, output in zip(leaves, signature.output_specs, strict=True):
            node = recorder.node_of(x)
            nodes.append(node)
            argument = type(output.arg)(node.name) if isinstance(node, Node) else output.arg
            specs.append(OutputSpec(output.kind, argument, output.target))
        return nodes, specs


def _data_symbols(value: Any) -> list[Any]:
    """The symbols without an example in what a node gave, in order."""
    found: list[Any] = []
    parts = value if isinstance(value, list | tuple) else [value]
    for part in parts:
        sizes = part.array.shape if isinstance(part, Tensor) else [part]
        for n in sizes:
            if isinstance(n, Symbolic):
                symbols = sorted(n.node.expr.free_symbols, key=str)
                found += [s for s in symbols if is_of_data(s) and s not in found]
    return found
