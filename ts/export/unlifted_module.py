"""Exported program as a module, with state as attributes, and with the arguments of the original module.

The inputs of a program include its parameters and buffers. The module reads them from its attributes:

    program    (p_lin_weight, b_count, x)
    module     (x), with lin_weight = self.lin.weight; ...; _guards_fn = self._guards_fn(x); ...

The module has a copy of the graph, so changes do not affect the program. At the end of this copy, `copy_`
nodes assign new values to mutated buffers and arguments.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import ts
from ts._core.tensor.tensor import Tensor
from ts.export.identifiers import word
from ts.export.input_guards import GuardsFn
from ts.export.module_calls import ModuleCallSignature
from ts.export.runner import Input, Runner
from ts.export.signature import InputKind, OutputKind, OutputSpec
from ts.fx.code_generation import PythonCode, PyTreeInfo, _PyTreeCodeGen
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.namespace import CUSTOM_BUILTINS
from ts.fx.node import Node, map_arg
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter

if TYPE_CHECKING:
    from ts.export.program import ExportedProgram

_GUARDS: Final = "_guards_fn"  # name of the attribute that contains the guards module
_ATTRIBUTES: Final = (_GUARDS, "_in_spec", "_out_spec", "_mutated_inputs", "_runner", "range_constraints")
# Attributes of modules of programs. Parameters and buffers cannot have these names.
PROGRAM_ATTRIBUTES: Final = frozenset((*dir(GraphModule(Module(), Graph())), *_ATTRIBUTES))
_RESERVED_NAMES: Final = frozenset(("self", "pytree", "fx_pytree", "__debug__", *CUSTOM_BUILTINS))
_WRITES: Final = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


class UnliftedModule(GraphModule):
    """Result of `ExportedProgram.module()`: a module that is called like the original module."""

    _runner: Runner

    def __init__(self, program: ExportedProgram, check_guards: bool) -> None:
        super().__init__(Module(), Graph())
        _add_state(self, program)
        self.range_constraints = program.range_constraints
        self._mutated_inputs = frozenset(_mutated_inputs(program.graph_signature.output_specs))
        # `get_attr` nodes read subgraphs of control-flow operators, for example.
        for node in program.graph.nodes:
            if node.op == "get_attr":
                name = str(node.target)
                value = getattr(program.graph_module, name)
                setattr(self, name, _copied(value) if isinstance(value, GraphModule) else value)
        if check_guards:
            setattr(self, _GUARDS, GuardsFn(program._guards))
        self.graph = _unlifted(program, check_guards)

    def recompile(self) -> PythonCode:
        """Regenerate `forward` from the graph and return the code."""
        code = super().recompile()
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            kind = type(self)  # a class that only this module has
            kind._runner, kind.forward = Runner(self), _checked(vars(kind)["forward"])  # type: ignore[method-assign]
        return code

    def train(self, mode: bool = True) -> Any:
        """Raise NotImplementedError, since a program has either the training or the evaluation mode."""
        raise NotImplementedError("Calling train() is not supported yet.")

    def eval(self) -> Any:
        """Raise NotImplementedError, since a program has either the training or the evaluation mode."""
        raise NotImplementedError("Calling eval() is not supported yet.")

    def _deepcopy_init(self) -> Callable[..., None]:
        def take(copied: GraphModule, root: Module, graph: Graph) -> None:
            GraphModule.__init__(copied, Module(), Graph())
            copied.__dict__.update((k, v) for k, v in vars(root).items() if k != "_graph")
            copied.graph = graph

        return take

    def __reduce__(self) -> Any:
        raise TypeError(
            "the module of an exported program cannot be pickled: use ts.export.save to save the program"
        )


def _checked(generated: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `forward` that calls the module's `Runner`. The runner runs `generated` or compiled code."""

    @functools.wraps(generated)
    def forward(self: UnliftedModule, *args: Any, **kwargs: Any) -> Any:
        return self._runner(self, generated, args, kwargs)

    return forward


def _copied(module: GraphModule) -> GraphModule:
    """Copy the module of a subgraph with its nested subgraphs. Tensors are shared with the original."""
    copied = GraphModule(module, module.graph.__deepcopy__(), type(module).__name__)
    for name, inner in module.named_children():
        if isinstance(inner, GraphModule):
            setattr(copied, name, _copied(inner))
    return copied


def _add_state(module: Module, program: ExportedProgram) -> None:
    """Set the parameters, buffers and constants of a program as attributes of a module and its submodules."""
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            continue
        name = str(spec.target)
        saved = name in program.state_dict
        value = (program.state_dict if saved else program.constants)[name]
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            set_state(module, name, value, saved)
        else:
            owner, last = _owner(module, name)
            if hasattr(owner, last):
                raise KeyError(f"attribute '{last}' already exists")
            owner.__dict__[last] = value


def set_state(module: Module, name: str, value: Any, persistent: bool = True) -> None:
    """Set a parameter, buffer or constant under a dotted name."""
    owner, last = _owner(module, name)
    if isinstance(value, Parameter):
        owner.register_parameter(last, value)
    elif isinstance(value, Tensor):
        owner.register_buffer(last, value, persistent)


def _owner(module: Module, name: str) -> tuple[Module, str]:
    """Return the module that contains a dotted name, and the last part of the name.

    Missing modules are created.
    """
    *path, last = name.split(".")
    for atom in path:
        if atom not in module._modules:
            module.add_module(atom, Module())
        module = module._modules[atom]  # type: ignore[assignment]
    return module, last


def _mutated_inputs(specs: Iterable[OutputSpec]) -> list[Input]:
    """Return the mutated inputs, in the order of the first outputs, which are the inputs' new values."""
    return [
        Input(spec.kind is OutputKind.USER_INPUT_MUTATION, str(spec.target))
        for spec in specs
        if spec.kind in _WRITES
    ]


def _unlifted(program: ExportedProgram, check_guards: bool) -> Graph:
    """Return a copy of the program's graph that reads parameters and buffers from attributes."""
    graph = Graph()
    # The name `self` is reserved for the module in generated code.
    graph._graph_namespace.create_name("self", None)
    copied_nodes: dict[Node, Node] = {}
    inputs: dict[Input, Node] = {}
    leaves: list[Node] = []
    nodes = list(program.graph.nodes)
    for node, spec in zip(nodes, program.graph_signature.input_specs, strict=False):
        if spec.kind is InputKind.USER_INPUT:
            copied_nodes[node] = inputs[Input(True, spec.arg.name)] = graph.node_copy(node)
            leaves.append(copied_nodes[node])
        else:
            copied_nodes[node] = inputs[Input(False, str(spec.target))] = graph.get_attr(str(spec.target))
            copied_nodes[node].meta = dict(node.meta)
    if check_guards and leaves:
        graph.call_module(_GUARDS, tuple(leaves))
    graph.graph_copy(program.graph, copied_nodes)
    outputs = map_arg(program.graph.output_node().args[0], copied_nodes.__getitem__)
    specs = program.graph_signature.output_specs
    copies = _write(graph, specs, outputs, inputs)
    results = [x for x, spec in zip(outputs, specs, strict=True) if spec.kind not in _WRITES]
    graph.output(tuple(copies.get(x, x) if isinstance(x, Node) else x for x in results))
    graph.set_codegen(_PyTreeCodeGen(_trees(program.call_signature)))
    return graph


def _write(
    graph: Graph, specs: list[OutputSpec], values: Sequence[Any], inputs: dict[Input, Node]
) -> dict[Node, Node]:
    """Append `copy_` nodes, which write the new values of mutated inputs to the inputs.

    Return a dictionary: new value -> node of the written input. If a result of the program is a new value,
    the module returns the node of the input instead. A new value that is the old value of another mutated
    input is cloned first.
    """
    aten = ts.ops.aten
    writes = [
        (spec.kind, inputs[x], value)
        # `values` is longer: the results of the program follow the new values.
        for spec, x, value in zip(specs, _mutated_inputs(specs), values, strict=False)
    ]
    targets = [target for _, target, _ in writes]
    preserved_values: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}
    for _, _, value in writes:
        if value in targets and value not in preserved_values:
            preserved_values[value] = graph.call_function(aten.clone.default, (value,))
    for kind, target, value in writes:
        # A parameter requires grad, so an in-place write to it is an error. Write to the detached parameter,
        # which shares memory with it.
        is_parameter = kind is OutputKind.PARAMETER_MUTATION
        destination = graph.call_function(aten.detach.default, (target,)) if is_parameter else target
        copied = graph.call_function(aten.copy_.default, (destination, preserved_values.get(value, value)))
        if value not in inputs.values():
            copies.setdefault(value, target if is_parameter else copied)
    return copies


def _trees(signature: ModuleCallSignature) -> PyTreeInfo:
    """Return the parameter names, and the tree specs of arguments and results, for the generated code."""
    args, kwargs = signature.in_spec.children()
    count = args.num_children + kwargs.num_children
    names = signature.forward_arg_names or []
    if len(names) != count:
        names = [f"arg_{i}" for i in range(count)]
    return PyTreeInfo(_parameters(names), signature.in_spec, signature.out_spec)


def _parameters(names: Iterable[str]) -> list[str]:
    """Convert argument names to unique parameter names of generated code."""
    parameters: dict[str, None] = {}
    for name in names:
        parameter = word(name)
        if parameter[:1].isdigit():
            parameter = f"_{parameter}"
        while parameter in parameters or parameter in _RESERVED_NAMES or keyword.iskeyword(parameter):
            parameter += "_"
        parameters[parameter] = None
    return list(parameters)
