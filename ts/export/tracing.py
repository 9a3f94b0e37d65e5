"""Graph capture of `export` (non-strict tracing on fake tensors), which returns an ExportedProgram."""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, Final

import ts
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts.compiler import exporting
from ts.errors import ConstraintViolationError, GuardOnDataDependentSymNode, UserError
from ts.export import hop_regions, runtime_assertions, sympy_functions
from ts.export.arguments import argument_names, arguments_by_name
from ts.export.builtin_functions import symbolic_builtins
from ts.export.control_flow import name_inputs
from ts.export.dim import _Hint
from ts.export.dim_relations import DimRelations
from ts.export.dynamic_shapes import AdditionalInputs, ShapesCollection, by_leaf
from ts.export.expr_parser import Source
from ts.export.fake import fake
from ts.export.guards import GuardBuilder
from ts.export.identifiers import word
from ts.export.input_guards import (
    InputGuard,
    guard_bound,
    guard_constant,
    guard_divisible,
    guard_equal_sizes,
    guard_size,
)
from ts.export.intervals import ValueRange
from ts.export.module_calls import ModuleCalls, ModuleCallSignature, argument
from ts.export.module_state import Snapshot
from ts.export.node_metadata import (
    FunctionCounter,
    add_tensor_metadata,
    count_used_sizes,
    rename_size_nodes,
)
from ts.export.program import ExportedProgram
from ts.export.shape_env import ShapeEnv
from ts.export.signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from ts.export.suggested_fixes import Fixes, Named, SpecKind
from ts.export.sym_node import symbol_of
from ts.export.sympy_import import sympy
from ts.export.tracer import ExportTracer
from ts.export.value_ranges import ValueRanges
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.nn.modules.module import Module
from ts.nn.parameter import Parameter
from ts.ops.namespace import OpOverload
from ts.utils import _pytree as pytree

aten = ts.ops.aten

_DRAFT_EXPORT_ADVICE: Final = (
    "The error above occurred when calling torch.export.export. If you would like to view some more "
    "information about this error, and get a list of all other errors that may occur in your export call, "
    "you can replace your `export()` call with `draft_export()`."
)


def export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """Export `mod(*args, **kwargs)` as a program. `dynamic_shapes` specifies the sizes that may vary.

    If `prefer_deferred_runtime_asserts_over_guards` is True, the graph asserts conditions on sizes at run
    time. Only ranges of sizes and equalities between sizes are checked by guards.
    """
    try:
        if not isinstance(mod, Module):
            raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
        if strict:
            raise UserError("export(strict=True) reads bytecode; use strict=False, which runs the module")
        if not isinstance(args, tuple):
            raise UserError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
        kwargs = dict(kwargs or {})
        exporter = Export(mod, args, kwargs, dynamic_shapes, preserve_module_call_signature)
        exporter.environment.defers_guards = prefer_deferred_runtime_asserts_over_guards
        return exporter.program()
    except (UserError, ConstraintViolationError, GuardOnDataDependentSymNode) as error:
        error.args = (f"{error}\n\n{_DRAFT_EXPORT_ADVICE}",)
        raise


class Export:
    """State of an export: converts arguments, traces the module and builds the program."""

    def __init__(
        self, mod: Module, args: Any, kwargs: Any, dynamic_shapes: Any, preserved: Iterable[str]
    ) -> None:
        self.module = mod
        self.args, self.kwargs = args, kwargs
        self.recorder = self.new_recorder()
        self.environment = self.recorder.environment
        self.calls = self.recorder.calls = ModuleCalls(mod, preserved)
        if isinstance(dynamic_shapes, ShapesCollection | AdditionalInputs):
            dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
        self.named_arguments = arguments_by_name(mod, args, kwargs)
        self.shapes = by_leaf(self.named_arguments, dynamic_shapes)
        self.relations = DimRelations(self.environment)
        self.inputs: list[InputSpec] = []
        self.state_nodes: dict[int, Node] = {}  # id of a parameter or buffer -> its input node
        self.checks: list[InputGuard] = []
        self.guard_builder = self.environment.guard_builder = GuardBuilder(self.environment)
        self.int_symbols: list[Any] = []  # symbols of the arguments that are ints
        # for each tensor argument: (expression for the argument such as `x['a']`, index among the flattened
        # arguments, sizes in which symbols stand for dynamic dimensions, example sizes)
        self.tensors: list[tuple[str, int, list[Any], list[int]]] = []
        self.named: list[Named] = []

    def new_recorder(self) -> ExportTracer:
        """Create the tracer that records the program."""
        return ExportTracer(ShapeEnv())

    def program(self) -> ExportedProgram:
        """Trace the module and return the program."""
        recorder = self.recorder
        state = self._lift_state()
        fakes, in_spec = self._lift_arguments()
        roots = self.relations.create_missing_roots()
        args, kwargs = pytree.tree_unflatten(fakes, in_spec)
        snapshot = Snapshot(self.module)
        functions = recorder.functions = FunctionCounter()
        try:
            with exporting(), recorder.recording(), symbolic_builtins(), functions:
                result = self.module(*args, **kwargs)
                leaves, out_spec = pytree.tree_flatten(result)
                for path, x, now in snapshot.replaced_buffers():
                    # `self.steps += 1` runs an in-place operator on the buffer, and then assigns the same
                    # buffer to the attribute.
                    if path and now is recorder.fake_of(x):
                        continue
                    aten.copy_(x, now)
                    written = recorder.node_of(x)
                    written._rename("copy__default")
                    written.args = (self.state_nodes[id(x)], *written.args[1:])
        finally:
            snapshot.restore()
            self.environment.observer = None
        recorder.check_arguments()
        self.relations.require(roots)
        recorder.move_derived_sizes()
        self.fixes = Fixes(self.environment, self.named, self.relations)
        self.fixes.raise_if_any()
        outputs, specs = self._outputs(leaves)
        recorder.graph.output(tuple(outputs))
        used_sizes = count_used_sizes(recorder.graph)
        replaced = runtime_assertions.insert(recorder)
        constants = self._lift_constants()
        recorder.graph.eliminate_dead_code(
            lambda node: (
                node.is_impure(impure_random=False)
                if node in recorder.tape.nodes
                else _is_kept_without_users(node)
            )
        )
        recorder.guard_squeezed_sizes()
        renamed = rename_size_nodes(recorder.graph, used_sizes)
        add_tensor_metadata(recorder.graph, self.environment)
        renamed |= hop_regions.wrap(recorder.graph, recorder.blocks, recorder.submodules)
        renamed |= {before: renamed.get(now, now) for before, now in replaced.items()}
        for old_name, name in renamed.items():
            self.calls.rename(old_name, name)
        for spec in specs:
            if not isinstance(spec.arg, ConstantArgument) and spec.arg.name in renamed:
                spec.arg = dataclasses.replace(spec.arg, name=renamed[spec.arg.name])
        module = GraphModule(recorder.submodules, recorder.graph)
        name_inputs(module)
        signature = ExportGraphSignature(self.inputs, specs)
        hidden = {n for n, _, persistent in _buffers(self.module) if not persistent}
        self.checks += self._size_checks()
        constants |= {n: x for n, x in state.items() if n in hidden}
        saved_state = {n: x for n, x in state.items() if n not in hidden}
        names = argument_names(self.module, self.args, self.kwargs)
        call = ModuleCallSignature([], [], in_spec, out_spec, names)
        return ExportedProgram._create(
            module, signature, saved_state, self._ranges(), self.calls.entries(call),
            (self.args, self.kwargs), constants, self.checks, self.environment,
        )  # fmt: skip

    def _lift_state(self) -> dict[str, Any]:
        """Create graph inputs for parameters and buffers.

        A tensor with several names gets one input for each name. Only the last of these inputs is used in the
        graph.
        """
        state: dict[str, Any] = {}
        # id of a tensor -> new Parameter for it. In modules from archives, parameters are plain tensors.
        parameters: dict[int, Parameter] = {}
        for name, parameter in self.module.named_parameters(remove_duplicate=False):
            if not isinstance(parameter, Parameter):
                state[name] = parameters.setdefault(
                    id(parameter), Parameter(parameter, parameter.requires_grad)
                )
            else:
                state[name] = parameter
            self._lift(InputKind.PARAMETER, "p_", name, parameter, None)
        for name, x, persistent in _buffers(self.module):
            state[name] = x
            self._lift(InputKind.BUFFER, "b_", name, x, persistent)
        return state

    def _lift(self, kind: InputKind, prefix: str, name: str, x: Tensor, persistent: bool | None) -> None:
        fake_tensor = fake(x)
        node = self.recorder.placeholder(prefix + name, fake_tensor)
        self.recorder.record_alias(x, fake_tensor)
        self.state_nodes[id(x)] = node
        self.inputs.append(InputSpec(kind, TensorArgument(node.name), name, persistent))

    def _lift_arguments(self) -> tuple[list[Any], Any]:
        """Create graph inputs for the arguments.

        Return the fake arguments, which have symbolic sizes, and the tree spec.
        """
        _, in_spec = pytree.tree_flatten((self.args, self.kwargs))
        paths, _ = pytree.tree_flatten_with_path(self.named_arguments)
        fakes: list[Any] = []
        for leaf_index, ((path, x), shape) in enumerate(zip(paths, self.shapes, strict=True)):
            source = str(path[0].key) + pytree.keystr(path[1:])  # type: ignore[attr-defined]
            flat = "_".join(map(_format_entry, path))
            if isinstance(x, Tensor):
                fake_tensor = fake(x, self._sizes(x, shape, source, leaf_index))
                self.recorder.example(fake_tensor, x)
                node = self.recorder.placeholder(flat, fake_tensor)
                self.inputs.append(InputSpec(InputKind.USER_INPUT, TensorArgument(node.name), None))
                fakes.append(fake_tensor)
            elif type(x) is int and isinstance(shape, _Hint) and shape.kind != "STATIC":
                symbolic_int = self._int_symbol(x, shape, flat, source, leaf_index)
                fakes.append(symbolic_int)
            else:
                node = self.recorder.placeholder(flat, x)
                self.inputs.append(InputSpec(InputKind.USER_INPUT, ConstantArgument(node.name, x), None))
                fakes.append(x)
                if not isinstance(x, int | float | bool | str | complex | None | ts.dtype | ts.device):
                    raise ValueError(
                        f"Unsupported input type {type(x)}. Export only supports pytree containers of "
                        "basic types (Tensor, int, float, ...) as input. To register a custom dataclass, "
                        "use torch.export.register_dataclass. To register a custom container type, use "
                        "torch.utils._pytree.register_pytree_node. To register a constant input, use "
                        "torch.utils._pytree.register_constant"
                    )
                self.checks.append(guard_constant(Source(source, None, leaf=leaf_index), x))
        return fakes, in_spec

    def _int_symbol(self, n: int, hint: _Hint, flat: str, source: str, leaf_index: int) -> Any:
        """Create the symbol of an int argument that may vary."""
        environment = self.environment
        low, high = max(hint.min or 0, 0), math.inf if hint.max is None else hint.max
        if not low <= n <= high:
            raise ConstraintViolationError(f"{source} = {n} not in range [{low}, {high}]")
        location = Source(source, None, leaf=leaf_index)
        symbol = environment.size(location, n, low, high)
        self.int_symbols.append(symbol)
        symbolic_int = symbol_of(symbol, environment)
        node = self.recorder.placeholder(flat, symbolic_int)
        self.inputs.append(InputSpec(InputKind.USER_INPUT, SymIntArgument(node.name), None))
        self.checks.append(guard_size(location))
        return symbolic_int

    def _sizes(self, x: Tensor, shape: Any, source: str, leaf_index: int) -> list[Any]:
        sizes: list[Any] = []
        for i, n in enumerate(x.shape):
            dim = shape.get(i) if isinstance(shape, dict) else None
            sizes.append(self._size(dim, n, Source(source, i, leaf=leaf_index)))
        self.tensors.append((source, leaf_index, sizes, list(x.shape)))
        return sizes

    def _size_checks(self) -> list[InputGuard]:
        """Return the guards on argument sizes, in PyTorch's order: ranges, equal sizes, recorded conditions.

        The last guards state what PyTorch does not check, or what the recorded conditions imply.
        """
        environment, builder = self.environment, self.guard_builder
        checks: list[InputGuard] = []
        last: list[InputGuard] = []
        ranges = self._ranges()
        int_expressions = {s: environment.simplify(s) for s in self.int_symbols}
        first: dict[Any, Source] = {}  # expression of a size -> its first location in the arguments
        for symbol, expression in int_expressions.items():
            if expression == symbol:
                first[symbol] = environment.sources[symbol][0]
                checks += builder.range_guards(symbol)
        for source, leaf_index, sizes, _ in self.tensors:
            for i, size in enumerate(sizes):
                at = Source(source, i, leaf=leaf_index)
                expression = sympy_functions.to_sympy(size) if isinstance(size, int) else size.node.expr
                if not expression.free_symbols:
                    checks.append(builder.equal(at, expression))
                elif expression in first:
                    checks.append(guard_equal_sizes(at, first[expression]))
                else:
                    first[expression] = at
                    if expression.is_Symbol:
                        environment.sources[expression] = [at]
                    low, high = float(ranges[expression].lower), float(ranges[expression].upper)
                    checks += [guard_bound(at, ">=", int(low))] if 2 < low < math.inf else []
                    checks += [guard_bound(at, "<=", int(high))] if not math.isinf(high) else []
        for expression, at in first.items():
            if expression.is_Symbol:
                continue
            derived = self._derived(expression, at)
            if derived is None and self.relations.has_created_root(expression):
                checks.append(builder.related(at, expression))
            elif derived is None:
                last.append(builder.equal(at, expression))
            elif derived.factor != 1:
                last.append(guard_divisible(derived))
        last += [
            builder.equal(environment.sources[s][0], expression)
            for s, expression in int_expressions.items()
            if expression != s
        ]
        last += builder.min_sizes(environment.min_sizes_in_calls)
        for guard in environment.guards:
            condition = guard.condition
            if self.relations.has_created_root(condition):
                condition = environment.simplify(condition)
            if condition.free_symbols and environment.has_hint(condition):
                checks.append(builder.guard(condition, guard.where and guard.where.to_line()))
        return list(dict.fromkeys(checks + last))

    def _derived(self, expression: Any, at: Source) -> Source | None:
        """Return the location `at` with factor and offset if it defines its symbol, else None.

        The size at `at` is `expression`, which has the form `factor * symbol + offset`. The location defines
        the symbol if it is the first one in the sources of the symbol.
        """
        for symbol in expression.free_symbols:
            first = self.environment.sources[symbol][0]
            if first.size == at and first != at:
                return first
        return None

    def _size(self, dim: Any, n: int, source: Source) -> Any:
        """Return the SymInt of a dynamic dimension, or `n` for a constant one (0/1 specialization)."""
        environment = self.environment
        if isinstance(dim, int) and dim != n:
            raise ConstraintViolationError(
                f"Static shape constraint of {dim} does not match input size of {n}, for {source.where}"
            )
        if dim is None or isinstance(dim, int) or (isinstance(dim, _Hint) and dim.kind == "STATIC"):
            return n
        if isinstance(dim, _Hint):
            low, high = max(dim.min or 2, 2), math.inf if dim.max is None else dim.max
            if n < 2:
                if dim.kind == "DYNAMIC":
                    at = f"inputs[{source.name!r}].shape[{source.dim}]"
                    raise ValueError(
                        "Found the following conflicts between user-specified ranges and inferred ranges "
                        "from model tracing:\n"
                        f"- Received user-specified dim hint Dim.DYNAMIC(min={dim.min}, max={dim.max}), but "
                        f"export 0/1 specialized due to hint of {n} for dimension {at}."
                    )
                return n
            symbol = environment.size(source, n, low, high)
            kind = SpecKind.DYNAMIC if dim.kind == "DYNAMIC" else SpecKind.AUTO
            self.named.append(Named(source.where, symbol, source, ValueRange(low, high), kind))
            return symbol_of(symbol, environment)
        if not dim.min <= n <= dim.max:
            end = "int_oo" if math.isinf(dim.max) else dim.max
            raise ConstraintViolationError(f"{n} not in range [{max(dim.min, 2)}, {end}]")
        symbol = environment.size(source, n, max(dim.min, 2), dim.max)
        kind = SpecKind.DIM if dim.root is dim else SpecKind.DERIVED_DIM
        limits = ValueRange(dim.min, dim.max)
        self.named.append(Named(dim.__name__, symbol, source, limits, kind, dim.root.__name__))
        self.relations.add(dim, symbol, source)
        if n < 2:
            environment.assume(sympy.Eq(symbol, n))
        return symbol_of(symbol, environment)

    def _outputs(self, leaves: list[Any]) -> tuple[list[Any], list[OutputSpec]]:
        nodes, specs = [], []
        for x in leaves:
            with self.recorder.recording():
                node = self.recorder.node_of(x)
                # If a symbol is constant, `node_of` returns a number. If a node computes the symbol, use this
                # node instead.
                if isinstance(x, SymNumber) and not isinstance(node, Node):
                    node = self.recorder._size_nodes.get(x.node.expression, node)
            nodes.append(node)
            if not isinstance(x, Tensor | SymNumber | int | float | bool | str | None):
                raise RuntimeError(
                    f"Found {type(x)} in output, which is not a known type. If this type holds tensors, you "
                    "need to register a pytree for it with ts.export.register_dataclass or "
                    "ts.utils._pytree.register_pytree_node"
                )
            specs.append(OutputSpec(OutputKind.USER_OUTPUT, argument(x, node), None))
        return nodes, specs

    def _lift_constants(self) -> dict[str, Any]:
        """Convert the constants of the graph to inputs, before the user inputs. Return them by name."""
        constants: dict[str, Any] = {}
        names = _names_of_attributes(self.module)
        unnamed = itertools.count()
        graph = self.recorder.graph
        first = next(
            i
            for i, s in enumerate([*self.inputs, InputSpec(InputKind.USER_INPUT, None, None)])
            if s.kind is InputKind.USER_INPUT
        )
        placeholders = [n for n in graph.nodes if n.op == "placeholder"]
        before = placeholders[first] if first < len(placeholders) else next(iter(graph.nodes))
        for k, (node, x) in enumerate(self.recorder.constants):
            attribute_names = names.get(id(x), [])
            name = (
                attribute_names[0]
                if attribute_names
                else f"{_module_prefix(node)}lifted_tensor_{next(unnamed)}"
            )
            with graph.inserting_before(before):
                placeholder = graph.placeholder(f"c_{word(name)}")
            placeholder.target = placeholder.name
            placeholder.meta = dict(node.meta)
            node.replace_all_uses_with(placeholder)
            self.calls.rename(node.name, placeholder.name)
            graph.erase_node(node)
            constants |= dict.fromkeys(attribute_names or [name], x)
            self.inputs.insert(
                first + k, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(placeholder.name), name)
            )
        return constants

    def _ranges(self) -> dict[Any, Any]:
        """Return `range_constraints`: the ranges of symbols, and of those sizes that are expressions.

        As in PyTorch, data-dependent symbols precede the sizes of arguments.
        """
        environment = self.environment
        dim_ranges = {n.symbol: n.range for n in self.named if n.is_dim}
        bounds: dict[Any, ValueRange] = {}
        for _, _, sizes, _ in self.tensors:
            for size in sizes:
                if not isinstance(size, int) and (expression := size.node.expr).free_symbols:
                    limits = dim_ranges.get(size.node.expression) or environment.value_range(expression)
                    bounds[expression] = bounds.get(expression, ValueRange(0)).intersection(limits)
        constraints: dict[Any, Any] = {s: ValueRanges(*limits) for s, limits in bounds.items()}
        for symbol in environment.ranges:
            if "_" in str(symbol) or symbol in constraints:
                continue
            if symbol in environment.replaced:
                if sympy_functions.is_of_data(symbol):
                    limits = environment.value_range(symbol).intersection(environment.ranges[symbol])
                    constraints[symbol] = ValueRanges(*limits, bool(symbol.is_integer))
            else:
                constraints[symbol] = ValueRanges(*environment.ranges[symbol], bool(symbol.is_integer))
        of_data = {s: limits for s, limits in constraints.items() if sympy_functions.is_of_data(s)}
        return of_data | {s: limits for s, limits in constraints.items() if s not in of_data}


def _is_kept_without_users(node: Node) -> bool:
    """Return False if dead code elimination may remove `node`.

    It may remove nodes that compute a size or number from sizes, and `getitem` nodes of control-flow
    operators other than `while_loop`.
    """
    if node.is_impure():
        return True
    if node.target is operator.getitem:
        source = node.args[0]
        if not isinstance(source, Node):
            return False
        return isinstance(source.target, OpOverload) or getattr(source.target, "name", "") == "while_loop"
    value = node.meta.get("val")
    int_symbols = all(isinstance(n.meta.get("val"), SymNumber) for n in node.all_input_nodes)
    is_size = str(node.target).startswith("aten.sym_") or str(node.target) == "aten.item.default"
    return not (is_size or (isinstance(value, SymNumber) and int_symbols))


def _format_entry(entry: Any) -> str:
    """Return the text of one key of a pytree path, for names of inputs."""
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


def _module_prefix(constant: Node) -> str:
    """Return the path of the first module that uses a constant, with a final dot.

    The root has the path "".
    """
    user = next(iter(constant.users), None)
    stack = list(user.meta.get("nn_module_stack", {}).values()) if user is not None else []
    path = stack[-1][0] if stack else ""
    return f"{path}." if path else ""


def _names_of_attributes(module: Module) -> dict[int, list[str]]:
    """Return a dictionary: id of a tensor that is no parameter or buffer -> names of its attributes."""
    attribute_names: dict[int, list[str]] = {}
    for path, each in module.named_modules():
        for name, x in vars(each).items():
            if isinstance(x, Tensor):
                attribute_names.setdefault(id(x), []).append(f"{path}.{name}" if path else name)
    return attribute_names


def _buffers(module: Module) -> list[tuple[str, Tensor, bool]]:
    buffers = []
    saved = module.state_dict()
    for name, x in module.named_buffers(remove_duplicate=False):
        buffers.append((name, x, name in saved))
    return buffers
