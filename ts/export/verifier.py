"""Check that exported programs are valid: targets of nodes, graph signature and state.

Example: `program.validate()` raises SpecViolationError for an invalid program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ts._functorch import predispatch
from ts._higher_order_ops.operator import HigherOrderOperator
from ts.export.signature import ConstantArgument, InputKind, OutputKind
from ts.export.size_operations import ARCHIVE_TARGETS
from ts.ops.namespace import OpOverload

if TYPE_CHECKING:
    from ts.export.program import ExportedProgram
    from ts.fx.node import Node


class SpecViolationError(Exception):
    """Raised for an invalid exported program."""


class Verifier:
    """Verifier of the dialect ATEN: programs after `run_decompositions`, without mutation."""

    dialect: ClassVar[str] = "ATEN"

    def check(self, program: ExportedProgram) -> None:
        """Raise SpecViolationError if the program is invalid."""
        self.check_nodes(program)
        _check_inputs(program)
        _check_outputs(program)
        for entry in program.module_call_graph:
            if entry.fqn == "" and entry.signature is None:
                raise SpecViolationError("the signature of the program's own call is missing")

    def check_nodes(self, program: ExportedProgram) -> None:
        """Check the nodes of the graph and its subgraphs."""
        for module in program.graph_module.modules():
            for node in getattr(module, "graph", _NONE).nodes:
                if node.op == "call_function":
                    self.check_call(node)
                elif node.op in ("call_module", "call_method"):
                    raise SpecViolationError(
                        f"Got a {node.op} node {node.name}, which is not allowed in programs"
                    )

    def check_call(self, node: Node) -> None:
        """Check a call node's target and its `val` metadata."""
        target: Any = node.target
        if "val" not in node.meta:
            raise SpecViolationError(f"Node.meta {node.name} is missing val field.")
        if isinstance(target, OpOverload):
            self.check_operator(target)
        elif not isinstance(target, HigherOrderOperator) and not _is_scalar_function(target):
            raise SpecViolationError(
                f"Operator '{target}' is not an allowed operator type: ({OpOverload}, {HigherOrderOperator})"
            )

    def check_operator(self, target: OpOverload) -> None:
        """Raise SpecViolationError for an operator that mutates arguments. This dialect forbids mutation."""
        if target._schema.is_mutable:
            raise SpecViolationError(f"operator '{target}' is not functional")


class TrainingIRVerifier(Verifier):
    """Verifier of the dialect TRAINING: programs of `export`, which may mutate tensors."""

    dialect: ClassVar[str] = "TRAINING"

    def check_operator(self, target: OpOverload) -> None:
        """Accept all operators."""


class _NoGraph:
    nodes: ClassVar[tuple[Node, ...]] = ()


_NONE = _NoGraph()


def _is_scalar_function(target: Any) -> bool:
    """Return True for Python functions that graphs may call: arithmetic on sizes, and levels of `vmap`."""
    return (
        target in ARCHIVE_TARGETS.values()
        or getattr(predispatch, getattr(target, "__name__", ""), None) is target
    )


def _check_inputs(program: ExportedProgram) -> None:
    """Raise SpecViolationError if placeholders do not match the input specs, or state is missing."""
    specs = program.graph_signature.input_specs
    names = [n.name for n in program.graph.nodes if n.op == "placeholder"]
    spec_names = [spec.arg.name for spec in specs]
    if len(names) != len(specs):
        raise SpecViolationError(
            f"Number of graph inputs ({len(names)}) does not match number of inputs in the graph signature "
            f"({len(specs)})\nPlaceholders missing input_specs: {set(names) - set(spec_names)}\n"
            f"Input_specs missing placeholders: {set(spec_names) - set(names)}"
        )
    for name, spec in zip(names, specs, strict=True):
        if name != spec.arg.name:
            raise SpecViolationError(f"the input {name} is {spec.arg.name} in the signature")
        if spec.kind is InputKind.PARAMETER and spec.target not in program.state_dict:
            raise SpecViolationError(f"Parameter {spec.target} is not in the state dict.")
        if spec.kind is InputKind.BUFFER:
            home = program.state_dict if spec.persistent else program.constants
            if spec.target not in home:
                raise SpecViolationError(f"Buffer {spec.target} is not in the state dict.")
        if spec.kind is InputKind.CONSTANT_TENSOR and spec.target not in program.constants:
            raise SpecViolationError(f"Constant tensor {spec.target} is not in the constants dictionary.")


def _check_outputs(program: ExportedProgram) -> None:
    """Raise SpecViolationError if outputs do not match the specs, or if an unknown input is mutated."""
    signature = program.graph_signature
    output = program.graph.output_node()
    results = list(output.args[0]) if isinstance(output.args[0], list | tuple) else [output.args[0]]
    if len(results) != len(signature.output_specs):
        raise SpecViolationError(
            f"Number of output nodes {len(results)} is different from the number of outputs in the signature "
            f"{len(signature.output_specs)}"
        )
    inputs = {spec.arg.name for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT}
    state = {spec.target for spec in signature.input_specs if spec.kind is not InputKind.USER_INPUT}
    for result, spec in zip(results, signature.output_specs, strict=True):
        name = getattr(result, "name", None)
        if name is not None and not isinstance(spec.arg, ConstantArgument) and name != spec.arg.name:
            raise SpecViolationError(
                f"User output {name} is not in the correct order or is not found in the exported program's "
                f"user_output list: {signature.user_outputs}. "
            )
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION):
            if spec.target not in state:
                raise SpecViolationError(f"{name} is written to {spec.target}, which is not an input")
        elif spec.kind is OutputKind.USER_INPUT_MUTATION and spec.target not in inputs:
            raise SpecViolationError(f"{name} is written to {spec.target}, which is not an input")


def verifier_of(dialect: str) -> type[Verifier]:
    """Return the verifier of a dialect."""
    return TrainingIRVerifier if dialect == TrainingIRVerifier.dialect else Verifier


__all__ = ["SpecViolationError", "TrainingIRVerifier", "Verifier", "verifier_of"]
