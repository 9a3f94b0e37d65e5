"""`ExportedProgram`: graph, signature, state, and range constraints, as plain data.

Decomposition, verification and execution are implemented in modules above this one, which the methods get by
late binding.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ts._core.late_binding import resolve
from ts.export.module_calls import ModuleCallEntry, ModuleCallSignature
from ts.export.signature import ConstantArgument, ExportGraphSignature, InputKind, InputSpec, OutputSpec
from ts.fx.graph import CodeGen
from ts.fx.graph_module import GraphModule
from ts.nn.modules.module import Module
from ts.utils._pytree import tree_flatten

if TYPE_CHECKING:
    from ts.export._draft_export import DraftExportReport
    from ts.export.shape_env import ShapeEnv
    from ts.export.verifier import Verifier
    from ts.fx.graph import Graph


class CallSpec(NamedTuple):
    """Pytree specs of the arguments (args, kwargs), and of the results."""

    in_spec: Any
    out_spec: Any


_READ_ONLY: Final = frozenset(
    ("graph_module", "graph", "graph_signature", "state_dict", "range_constraints", "module_call_graph",
     "constants", "tensor_constants", "verifier", "verifiers", "dialect", "call_spec")
)  # fmt: skip


class ExportedProgram:
    """Exported program, the result of `ts.export.export`: graph, signature, state and range constraints."""

    def __init__(
        self,
        root: Module | dict[str, Any],
        graph: Graph,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Any],
        range_constraints: dict[Any, Any],
        module_call_graph: list[ModuleCallEntry],
        example_inputs: Any = None,
        constants: dict[str, Any] | None = None,
        *,
        verifiers: list[type[Verifier]] | None = None,
    ) -> None:
        # Use the default code generator, whose code has one parameter for each flattened input.
        graph._codegen = CodeGen()
        module = GraphModule(root, graph)
        if isinstance(root, Module):
            module.meta.update(getattr(root, "meta", {}))
        dialect = verifiers[0].dialect if verifiers else "ATEN"
        self._set(
            module, graph_signature, state_dict, range_constraints, module_call_graph, example_inputs,
            constants or {}, [], None, dialect,
        )  # fmt: skip
        self.validate()

    @classmethod
    def _create(
        cls,
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Any],
        range_constraints: dict[Any, Any],
        module_call_graph: list[ModuleCallEntry],
        example_inputs: Any,
        constants: dict[str, Any],
        guards: list[Any],
        environment: ShapeEnv | None = None,
        dialect: str = "TRAINING",
    ) -> ExportedProgram:
        """Create a program with the given fields, and with the guards and shape environment of an export."""
        program = cls.__new__(cls)
        program._set(
            graph_module, graph_signature, state_dict, range_constraints, module_call_graph, example_inputs,
            constants, guards, environment, dialect,
        )  # fmt: skip
        return program

    def _set(
        self,
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Any],
        range_constraints: dict[Any, Any],
        module_call_graph: list[ModuleCallEntry],
        example_inputs: Any,
        constants: dict[str, Any],
        guards: list[Any],
        environment: ShapeEnv | None,
        dialect: str,
    ) -> None:
        self._graph_module = graph_module
        self._graph_signature = graph_signature
        self._state_dict = state_dict
        self._range_constraints = range_constraints
        self._module_call_graph = module_call_graph
        self._example_inputs = example_inputs
        self._constants = constants
        self._guards = guards
        self._environment = environment
        self._dialect = dialect
        # report of failures of `draft_export`, or None for other programs
        self._report: DraftExportReport | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _READ_ONLY:
            raise RuntimeError(f"Unable to set ExportedProgram's {name} attribute.")
        super().__setattr__(name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> ExportedProgram:
        program = type(self).__new__(type(self))
        memo[id(self)] = program
        program.__dict__.update({k: copy.deepcopy(x, memo) for k, x in vars(self).items()})
        return program

    def __copy__(self) -> ExportedProgram:
        program = type(self).__new__(type(self))
        program.__dict__.update(vars(self))
        return program

    @property
    def graph_module(self) -> GraphModule:
        """Module that contains the graph."""
        return self._graph_module

    @property
    def graph(self) -> Any:
        """Graph of the program."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """Signature of the graph's inputs and outputs."""
        return self._graph_signature

    @property
    def state_dict(self) -> dict[str, Any]:
        """Mapping: name -> parameter or buffer."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Any]:
        """Mapping: name -> tensor or object that is neither a parameter nor a buffer."""
        return self._constants

    @property
    def tensor_constants(self) -> dict[str, Any]:
        """Alias of `constants`."""
        return self._constants

    @property
    def range_constraints(self) -> dict[Any, Any]:
        """Mapping: symbol -> range of its values."""
        return self._range_constraints

    @property
    def example_inputs(self) -> Any:
        """Example arguments (args, kwargs) of the export."""
        return self._example_inputs

    @example_inputs.setter
    def example_inputs(self, value: Any) -> None:
        if value is not None:
            is_pair = isinstance(value, tuple) and len(value) == 2
            if not (is_pair and isinstance(value[0], tuple) and isinstance(value[1], dict)):
                raise ValueError(
                    "Example inputs should be a tuple containing example arguments (as a tuple), "
                    "and example kwargs (as a dictionary)."
                )
            in_spec = tree_flatten(value)[1]
            if in_spec != self.call_spec.in_spec:
                raise ValueError(
                    "Example inputs do not match with the example inputs in the exported program: "
                    f"{in_spec} and {self.call_spec.in_spec}"
                )
        self._example_inputs = value

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """Entries for the program (first) and its submodules, with the signatures of preserved calls."""
        return self._module_call_graph

    @property
    def call_signature(self) -> ModuleCallSignature:
        """Signature of a call of the program: pytree specs and names of the arguments."""
        signature = self._module_call_graph[0].signature
        # the first entry is the call of the program itself, which always has a signature
        assert signature is not None
        return signature

    @property
    def call_spec(self) -> CallSpec:
        """Pytree specs of arguments and results."""
        return CallSpec(self.call_signature.in_spec, self.call_signature.out_spec)

    @property
    def dialect(self) -> str:
        """Dialect of the program: `TRAINING` after `export`, `ATEN` (no mutation) after decomposition."""
        return self._dialect

    @property
    def verifier(self) -> type[Verifier]:
        """Verifier class of the program's dialect."""
        return resolve("verifier_of")(self._dialect)  # type: ignore[no-any-return]

    @property
    def verifiers(self) -> list[type[Verifier]]:
        """List that contains `verifier`."""
        return [self.verifier]

    def validate(self) -> None:
        """Raise SpecViolationError if the graph does not match the signature, or state is missing."""
        self.verifier().check(self)

    @property
    def environment(self) -> ShapeEnv:
        """Shape environment of the program's symbols."""
        if self._environment is None:
            self._environment = resolve("shape_environment")()
        return self._environment

    def run_decompositions(self, decomp_table: Mapping[Any, Any] | None = None) -> ExportedProgram:
        """Return an equivalent program that mutates no tensors, with decomposed operators.

        `decomp_table` contains the decompositions. If it is None, operators are decomposed to core operators.
        """
        return resolve("decompose_program")(self, decomp_table)  # type: ignore[no-any-return]

    def _update(
        self,
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature,
        *,
        state_dict: dict[str, Any] | None = None,
        constants: dict[str, Any] | None = None,
        verifiers: Any = None,
    ) -> ExportedProgram:
        """Return a program with a new graph and signature. The other fields are shared with this program."""
        dialect = verifiers[0].dialect if verifiers else self._dialect
        return type(self)._create(
            graph_module, graph_signature, self.state_dict if state_dict is None else state_dict,
            self.range_constraints, self.module_call_graph, self.example_inputs,
            self.constants if constants is None else constants, self._guards, self._environment, dialect,
        )  # fmt: skip

    def _transform_do_not_use(self, *passes: Callable[[GraphModule], Any]) -> ExportedProgram:
        """Apply graph passes in order. Return a new program, or this program if no pass changed the graph.

        A pass returns a `PassResult`, or None for no change.
        """
        module = self.graph_module
        before = [node.name for node in module.graph.nodes if node.op == "placeholder"]
        outputs = [getattr(x, "name", None) for x in module.graph.output_node().args[0]]
        modified = False
        for each in passes:
            result = each(module)
            if result is not None:
                module, modified = result.graph_module, modified or result.modified
        if not modified:
            return self
        module.graph.lint()
        module.recompile()
        now = [node.name for node in module.graph.nodes if node.op == "placeholder"]
        renamed = dict(zip(before, now, strict=True))
        results = [getattr(x, "name", None) for x in module.graph.output_node().args[0]]
        renamed |= {x: y for x, y in zip(outputs, results, strict=True) if x is not None and y is not None}
        signature = copy.deepcopy(self.graph_signature)
        specs: list[InputSpec | OutputSpec] = [*signature.input_specs, *signature.output_specs]
        for spec in specs:
            if not isinstance(spec.arg, ConstantArgument) and spec.arg.name in renamed:
                spec.arg = type(spec.arg)(renamed[spec.arg.name])
        return self._update(module, signature)

    def parameters(self) -> Any:
        """Return an iterator over the parameters."""
        return (p for _, p in self.named_parameters())

    def named_parameters(self) -> Any:
        """Yield (name, parameter) pairs."""
        for name in self.graph_signature.parameters:
            yield name, self.state_dict[name]

    def buffers(self) -> Any:
        """Return an iterator over the buffers."""
        return (b for _, b in self.named_buffers())

    def named_buffers(self) -> Any:
        """Yield (name, buffer) pairs."""
        hidden = set(self.graph_signature.non_persistent_buffers)
        for name in self.graph_signature.buffers:
            yield name, (self.constants if name in hidden else self.state_dict)[name]

    def module(self, check_guards: bool = True) -> Module:
        """Return a module that runs the program, and whose `forward` has the original parameters.

        If `check_guards` is True, each call evaluates the guards.
        """
        return resolve("unlifted_module")(self, check_guards)  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError with the advice to call `exported_program.module()`, as in PyTorch."""
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def _lifted(self) -> list[Any]:
        """Return the parameters, buffers and constants that are inputs of the graph, in order."""
        values = []
        for spec in self.graph_signature.input_specs:
            if spec.kind is InputKind.USER_INPUT:
                continue
            target = str(spec.target)
            of_state = spec.kind is InputKind.PARAMETER or (spec.kind is InputKind.BUFFER and spec.persistent)
            values.append((self.state_dict if of_state else self.constants)[target])
        return values

    def __str__(self) -> str:
        code = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        signature = str(self.graph_signature).replace("\n", "\n    ")
        return (
            f"ExportedProgram:\n    {code}\nGraph signature: {signature}\n"
            f"Range constraints: {self.range_constraints}\n"
        )
