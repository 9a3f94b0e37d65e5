"""`run_decompositions`: functionalization and decomposition to core operators.

The graph runs again on fake tensors, and a tracer records a new graph. The first outputs of the new graph are
the new values of mutated inputs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import ts
from ts._core.builtin_ops.properties import SYMBOLIC_SIZES
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.operator import HigherOrderOperator
from ts._higher_order_ops.wrap_ops import autocast_op, set_grad_op
from ts.amp.autocast_mode import autocast
from ts.export import runtime_assertions
from ts.export.decision_policy import FrozenPolicy
from ts.export.decomp_utils import CustomDecompTable
from ts.export.decompositions import decomposition_table
from ts.export.fake import substitute_constant
from ts.export.functionalization import FunctionalizingTracer
from ts.export.module_calls import ModuleCallEntry
from ts.export.node_arguments import values_of
from ts.export.node_metadata import add_tensor_metadata, count_used_sizes, rename_size_nodes
from ts.export.shape_env import ShapeEnv
from ts.export.signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from ts.export.size_order import move_sizes_to_tensors
from ts.export.sympy_functions import is_of_data
from ts.export.verifier import Verifier
from ts.export.vmap_decomposition import VMAP_OPERATORS
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.ops import registry
from ts.ops.namespace import OpOverload, overload_named

if TYPE_CHECKING:
    from ts.export.program import ExportedProgram

_ASSERT_SCALAR = overload_named("aten::_assert_scalar", "")
_WRITTEN = {
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}


def decompose_program(program: ExportedProgram, decompositions: Mapping[Any, Any] | None) -> ExportedProgram:
    """Decompose a program by the table `decompositions`, or to core operators if it is None."""
    table = (
        decomposition_table.core_aten_decompositions() if decompositions is None else _by_key(decompositions)
    )
    environment = program.environment
    before, environment.min_sizes_in_calls = (
        environment.min_sizes_in_calls,
        dict(environment.min_sizes_in_calls),
    )
    try:
        run = _Run(program.graph_module, environment, table)
        with environment.deciding_by(FrozenPolicy()):
            module, signature, calls = run.program(program.graph_signature, program.module_call_graph)
        if signature.lifted_tensor_constants:
            _order_state(module, signature)
        checks = list(program._guards)
        if (builder := environment.guard_builder) is not None:
            checks += map(builder.guard, dict.fromkeys(run.recorder.noted))
            more = {s: n for s, n in environment.min_sizes_in_calls.items() if before.get(s) != n}
            checks += builder.min_sizes(more)
    finally:
        environment.observer = None
        environment.min_sizes_in_calls = before
    return type(program)._create(
        module, signature, program.state_dict, program.range_constraints, calls,
        program.example_inputs, program.constants, checks, environment, Verifier.dialect,
    )  # fmt: skip


def _order_state(module: GraphModule, signature: ExportGraphSignature) -> None:
    """Sort the graph inputs: first parameters, then buffers and constants in the order of their modules."""
    names = [*signature.parameters, *signature.buffers, *signature.lifted_tensor_constants]
    # path of a module -> paths of its submodules, in the order of their first occurrence in the names
    modules: dict[str, list[str]] = {"": []}
    for name in names:
        path = name.split(".")[:-1]
        for k in range(len(path)):
            inner, outer = ".".join(path[: k + 1]), ".".join(path[:k])
            if inner not in modules:
                modules[inner] = []
                modules[outer].append(inner)
    own: dict[str, list[str]] = {path: [] for path in modules}
    for name in (*signature.buffers, *signature.lifted_tensor_constants):
        own[name.rpartition(".")[0]].append(name)
    ordered_names = list(signature.parameters)
    pending = [""]
    while pending:
        prefix = pending.pop()
        ordered_names += own[prefix]
        pending += reversed(modules[prefix])
    position = {name: k for k, name in enumerate(ordered_names)}
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    pairs = list(zip(signature.input_specs, nodes, strict=True))
    state = [pair for pair in pairs if str(pair[0].target) in position]
    if not state or any(spec.kind is not InputKind.USER_INPUT for spec, _ in pairs[len(state) :]):
        # Objects and tokens among the inputs have no defined order.
        return
    ordered = sorted(state, key=lambda pair: position[str(pair[0].target)])
    for before, (_, node) in zip([None, *(n for _, n in ordered)], ordered, strict=False):
        if before is None:
            next(iter(module.graph.nodes)).prepend(node)
        else:
            before.append(node)
    signature.input_specs[: len(ordered)] = [spec for spec, _ in ordered]
    module.recompile()


def default_decompositions() -> CustomDecompTable:
    """Return a copy of the table that `run_decompositions()` uses: operator -> decomposition."""
    table = CustomDecompTable()
    for key, function in decomposition_table.core_aten_decompositions().items():
        operator = registry.operator(key)
        if operator is not None:
            table[overload_named(operator.name, operator.overload)] = function
    return table


def _by_key(decompositions: Mapping[Any, Any]) -> decomposition_table.Table:
    return {op.name() if isinstance(op, OpOverload) else str(op): f for op, f in decompositions.items()}


class _Results(NamedTuple):
    """Results of a control-flow operator: its node in the new graph, and the fake values of the results."""

    node: Node
    values: Any


class _Run:
    """Replay of one graph: the graph of the program, or a subgraph of a control-flow operator."""

    def __init__(
        self, module: GraphModule, environment: ShapeEnv, decompositions: decomposition_table.Table
    ) -> None:
        self.module = module
        self.environment = environment
        self.decompositions = decompositions
        self.recorder = FunctionalizingTracer(environment, decompositions)
        self.submodules: dict[str, GraphModule | Tensor] = {}
        self.values: dict[Node, Any] = {}
        # node of a symbolic number in the old graph -> node in the new graph that computes the same number
        self.symbol_nodes: dict[Node, Node] = {}
        self.inputs: list[Any] = []
        # Nodes of arguments and results in call signatures that are preserved. Dead code elimination keeps
        # these nodes.
        self.preserved_nodes: set[Node] = set()

    def program(
        self, signature: ExportGraphSignature, calls: list[ModuleCallEntry]
    ) -> tuple[GraphModule, ExportGraphSignature, list[ModuleCallEntry]]:
        """Return the new graph, its signature and the module calls."""
        leaves = self._run()
        with ts.no_grad():
            nodes, specs = self._outputs(list(leaves), signature)
            calls = list(map(self._call, calls))
        module, renamed = self._module(tuple(nodes), is_program=True)
        for spec in specs:
            if not isinstance(spec.arg, ConstantArgument) and spec.arg.name in renamed:
                spec.arg = type(spec.arg)(renamed[spec.arg.name])
        calls = [
            ModuleCallEntry(c.fqn, c.signature.renamed(lambda name: renamed.get(name, name)))
            if c.signature is not None and renamed
            else c
            for c in calls
        ]
        return module, ExportGraphSignature(list(signature.input_specs), specs), calls

    def _call(self, entry: ModuleCallEntry) -> ModuleCallEntry:
        """Return `entry` with the names of nodes in the new graph. Add these nodes to `preserved_nodes`."""
        if entry.signature is None:
            return entry
        before = {node.name: value for node, value in self.values.items()}

        def renamed(name: str) -> str:
            node = self.recorder.node_of(before[name])
            self.preserved_nodes.add(node)
            return str(node.name)

        return ModuleCallEntry(entry.fqn, entry.signature.renamed(renamed))

    def subgraph(self) -> GraphModule:
        """Return the decomposed subgraph of a control-flow operator."""
        result = self._run()
        several = isinstance(result, list | tuple)
        return self._module(self.recorder.node_of(tuple(result) if several else result))[0]

    def _run(self) -> Any:
        with ts.no_grad():
            for node in self.module.graph.nodes:
                if node.op == "placeholder":
                    self.inputs.append(self._input(node))
            return self._nodes()

    def _nodes(self) -> Any:
        """Replay all nodes except the inputs, whose values are known already.

        Return the results of the graph.
        """
        for node in self.module.graph.nodes:
            if node.op == "output":
                return values_of(node.args[0], self.values.__getitem__)
            if node.op != "placeholder":
                self.recorder.origin = node
                self.values[node] = self._replay_node(node)
        return ()

    def _block(self, node: Node) -> Any:
        """Inline the subgraph of a grad-mode or autocast block and return its results."""
        subgraph_index = next(i for i, x in enumerate(node.args) if isinstance(x, Node))
        before, inner = self.module, getattr(self.module, str(node.args[subgraph_index].target))  # type: ignore[union-attr]
        inputs = [n for n in inner.graph.nodes if n.op == "placeholder"]
        for input_node, x in zip(inputs, node.args[subgraph_index + 1 :], strict=True):
            self.values[input_node] = values_of(x, self.values.__getitem__)
        self.module = inner
        try:
            if node.target is set_grad_op:
                return self._nodes()
            device, dtype, enabled, *_ = node.args[:subgraph_index]
            with autocast(device, dtype, enabled):  # type: ignore[arg-type]
                return self._nodes()
        finally:
            self.module = before

    def _module(self, result: Any, is_program: bool = False) -> tuple[GraphModule, dict[str, str]]:
        """Finish the new graph. Return its module, and a dict from old names of nodes to new ones."""
        graph = self.recorder.graph
        graph.output(result)
        graph.eliminate_dead_code(
            lambda node: node in self.preserved_nodes or node.is_impure(impure_random=False)
        )
        self.recorder.guard_squeezed_sizes()
        if is_program:
            used_sizes = count_used_sizes(graph)
            replaced = runtime_assertions.reinsert(self.recorder)
            renamed = rename_size_nodes(graph, used_sizes)
            renamed |= {before: renamed.get(now, now) for before, now in replaced.items()}
            add_tensor_metadata(graph, self.environment)
        else:
            renamed = {}
            move_sizes_to_tensors(graph)
        return GraphModule(self.submodules, graph), renamed

    def _input(self, node: Node) -> Any:
        value = node.meta.get("val")
        placeholder = self.recorder.placeholder(node.name, value)
        placeholder.meta = dict(node.meta)
        self.values[node] = value
        return value

    def _replay_node(self, node: Node) -> Any:
        """Run a node of the old graph again and return the value."""
        if node.op == "get_attr":
            return None if _is_of_block(node) else self._attribute(node)
        if node.target in (set_grad_op, autocast_op):
            return self._block(node)
        args, kwargs = (values_of(x, self.values.__getitem__) for x in (node.args, node.kwargs))
        target = node.target
        value = node.meta.get("val")
        if isinstance(target, HigherOrderOperator):
            if self.recorder.open_batches.has(args):
                raise ts.errors.UserError(
                    f"{target.name} inside of vmap cannot be decomposed: run the program as it was exported"
                )
            call_node = self.recorder._call(
                target, self.recorder.node_of(args), value, self.recorder.node_of(kwargs)
            )
            return _Results(call_node, value)
        if args and isinstance(args[0], _Results):
            (results, index), output = args, args[0].values[args[1]]
            self.recorder._bind(self.recorder._call(target, (results.node, index), output), output)
            return output
        if target is _ASSERT_SCALAR and isinstance(node.args[0], Node) and node.args[0] in self.symbol_nodes:
            name = "_assert_scalar"
            self.recorder._call(
                target, (self.symbol_nodes[node.args[0]], *args[1:]), None, dict(kwargs), name
            )
            return None
        if isinstance(value, SymNumber) and (
            not isinstance(target, OpOverload) or target.name() in SYMBOLIC_SIZES
        ):
            output = self._replay_symbol(target, args, value)
            if not self.recorder.open_batches.has(args):
                self.symbol_nodes[node] = self.recorder.number_nodes[id(value)][1]
            return output
        if target in VMAP_OPERATORS:
            with self.recorder.recording():
                return VMAP_OPERATORS[target](self.recorder.open_batches, *args, **kwargs)
        if not isinstance(target, OpOverload):
            with self.recorder.recording():
                return target(*args, **kwargs)  # type: ignore[operator]
        args, kwargs = _with_constants(args), {k: _with_constants(x) for k, x in kwargs.items()}
        op, values, _ = target.resolve(args, kwargs)
        self.environment.recycled = deque(_data_symbols(value))
        return self.recorder.run(op, values)

    def _attribute(self, node: Node) -> Any:
        """Replay a `get_attr` node.

        If it reads a subgraph, decompose the subgraph. If it reads a constant, keep the constant.
        """
        name = str(node.target)
        attribute = getattr(self.module, name)
        if isinstance(attribute, GraphModule) and name not in self.submodules:
            self.submodules[name] = _Run(attribute, self.environment, self.decompositions).subgraph()
            self.environment.observer = self.recorder.arithmetic
        attribute_node = self.recorder.graph.create_node("get_attr", name)
        attribute_node.meta = dict(node.meta)
        if isinstance(attribute, Tensor):
            self.submodules[name] = attribute
            value = node.meta["val"]
            self.recorder._bind(attribute_node, value)
            return value
        return attribute_node

    def _replay_symbol(self, target: Any, args: Any, value: SymNumber) -> SymNumber:
        """Create a node that computes `value`.

        Return `value` itself, because the new graph uses the same symbols.
        """
        recorder, expression = self.recorder, value.node.expression
        if recorder.open_batches.has(args):
            # `node_of` creates a node for the size of a tensor in a `vmap` batch.
            recorder.node_of(value)
        else:
            node = recorder._call(target, tuple(map(recorder.node_of, args)), value)
            recorder.number_nodes[id(value)] = value, node
            recorder._size_nodes.setdefault(expression, node)
        return value

    def _outputs(
        self, leaves: list[Any], signature: ExportGraphSignature
    ) -> tuple[list[Any], list[OutputSpec]]:
        """Return the nodes and specs of the outputs: new values of mutated inputs, then user outputs.

        Raise RuntimeError if the program writes to a constant, or changes the shape of an input in place.
        """
        recorder, nodes, specs = self.recorder, [], []
        for value, spec in zip(self.inputs, signature.input_specs, strict=True):
            if any(value is x for x in recorder.reshaped):
                raise RuntimeError(
                    f"the program changes the shape of {spec.arg.name} in place, which "
                    "operators without writes cannot express"
                )
            if isinstance(value, Tensor) and recorder.written(value):
                if spec.kind not in _WRITTEN:
                    raise RuntimeError(
                        f"the program writes to {spec.target}, a constant: register it as a buffer"
                    )
                node = recorder.node_of(value)
                target = spec.arg.name if spec.kind is InputKind.USER_INPUT else spec.target
                nodes.append(node)
                specs.append(OutputSpec(_WRITTEN[spec.kind], TensorArgument(node.name), target))
        for x, output in zip(leaves, signature.output_specs, strict=True):
            node = recorder.node_of(x)
            if isinstance(node, Node) and str(node.target) == "aten.sym_size.int":
                node = substitute_constant(x) if type(substitute_constant(x)) is int else node
            nodes.append(node)
            argument = output.arg
            if isinstance(node, Node):
                argument = type(output.arg)(node.name)
            elif not isinstance(output.arg, ConstantArgument):
                argument = ConstantArgument("", node)
            specs.append(OutputSpec(output.kind, argument, output.target))
        return nodes, specs


def _with_constants(x: Any) -> Any:
    """Return `x` in which each symbolic number with only one possible value is replaced by an int."""
    if isinstance(x, list | tuple):
        return type(x)(map(_with_constants, x))
    return substitute_constant(x)


def _is_of_block(node: Node) -> bool:
    """Return True if all users of a `get_attr` node are grad-mode or autocast blocks."""
    return bool(node.users) and all(user.target in (set_grad_op, autocast_op) for user in node.users)


def _data_symbols(value: Any) -> list[Any]:
    """Return the unbacked symbols in the recorded value of a node, in order."""
    unbacked_symbols: list[Any] = []
    elements = value if isinstance(value, list | tuple) else [value]
    for element in elements:
        sizes = element.array.shape if isinstance(element, Tensor) else [element]
        for n in sizes:
            if isinstance(n, SymNumber):
                symbols = sorted(n.node.expression.free_symbols, key=str)
                unbacked_symbols += [s for s in symbols if is_of_data(s) and s not in unbacked_symbols]
    return unbacked_symbols
