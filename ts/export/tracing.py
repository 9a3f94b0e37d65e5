"""`export`: a module runs once on fake tensors, and what it does is a program."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import sympy

import ts
from ts._core.tensor.symbols import Symbolic, SymBool, SymFloat, SymInt
from ts._core.tensor.tensor import Tensor
from ts.errors import ConstraintViolationError, UserError
from ts.export import assertions, expressions
from ts.export.arguments import argument_names, arguments_by_name
from ts.export.control_flow import name_inputs
from ts.export.dims import _Hint
from ts.export.dynamic_shapes import AdditionalInputs, ShapesCollection, by_leaf
from ts.export.environment import Environment, Source
from ts.export.fake import fake
from ts.export.fixes import Fixes, Named
from ts.export.guards import Check, Places, text
from ts.export.module_state import Snapshot
from ts.export.nodes import symbol_of
from ts.export.program import ExportedProgram
from ts.export.ranges import Range, ValueRanges, between
from ts.export.recorder import Recorder
from ts.export.signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.nn.modules.module import Module
from ts.ops.namespace import OpOverload
from ts.utils import _pytree as pytree

aten = ts.ops.aten


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
    """The program of `mod(*args, **kwargs)`, for tensors like these, of sizes as `dynamic_shapes` says."""
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if strict:
        raise UserError("export(strict=True) reads bytecode; use strict=False, which runs the module")
    if not isinstance(args, tuple):
        raise UserError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    kwargs = dict(kwargs or {})
    return _Export(mod, args, kwargs, dynamic_shapes).program()


class _Export:
    def __init__(self, mod: Module, args: Any, kwargs: Any, dynamic_shapes: Any) -> None:
        self.module = mod
        self.args, self.kwargs = args, kwargs
        self.environment = Environment()
        self.recorder = Recorder(self.environment)
        if isinstance(dynamic_shapes, ShapesCollection | AdditionalInputs):
            dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
        self.named_arguments = arguments_by_name(mod, args, kwargs)
        self.shapes = by_leaf(self.named_arguments, dynamic_shapes)
        self.symbols: dict[str, Any] = {}  # by names of dims
        self.inputs: list[InputSpec] = []
        self.checks: list[Check] = []
        self.places = Places(self.environment)
        self.tensors: list[tuple[str, int, list[Any], list[int]]] = []  # source, leaf, sizes, in the example
        self.named: list[Named] = []

    def program(self) -> ExportedProgram:
        recorder = self.recorder
        state = self._lift_state()
        fakes, in_spec = self._lift_arguments()
        args, kwargs = pytree.tree_unflatten(fakes, in_spec)
        snapshot = Snapshot(self.module)
        try:
            with recorder.recording():
                result = self.module(*args, **kwargs)
                leaves, out_spec = pytree.tree_flatten(result)
                for x, now in snapshot.replaced_buffers():
                    aten.copy_(x, now)
        finally:
            snapshot.restore()
        self.fixes = Fixes(self.environment, self.named)
        self.fixes.raise_if_any()
        outputs, specs = self._outputs(leaves)
        recorder.graph.output(tuple(outputs))
        assertions.insert(recorder)
        constants = self._lift_constants()
        recorder.graph.eliminate_dead_code(_stays)
        module = GraphModule(recorder.submodules, recorder.graph)
        name_inputs(module)
        signature = ExportGraphSignature(self.inputs, specs)
        hidden = {n for n, _, persistent in _buffers(self.module) if not persistent}
        self.checks += self._size_checks()
        constants |= {n: x for n, x in state.items() if n in hidden}
        made = ExportedProgram(
            module, signature, {n: x for n, x in state.items() if n not in hidden}, self._ranges(),
            (in_spec, out_spec), (self.args, self.kwargs), constants, self.checks, self.environment,
        )  # fmt: skip
        made._argument_names = argument_names(self.module, self.args, self.kwargs)
        return made

    def _lift_state(self) -> dict[str, Any]:
        """Parameters and buffers become inputs."""
        state: dict[str, Any] = {}
        for name, parameter in self.module.named_parameters():
            state[name] = parameter
            self._lift(InputKind.PARAMETER, "p_", name, parameter, None)
        for name, x, persistent in _buffers(self.module):
            state[name] = x
            self._lift(InputKind.BUFFER, "b_", name, x, persistent)
        return state

    def _lift(self, kind: InputKind, prefix: str, name: str, x: Tensor, persistent: bool | None) -> None:
        made = fake(x)
        node = self.recorder.placeholder(prefix + name.replace(".", "_"), made)
        self.recorder.stand_for(x, made)
        self.inputs.append(InputSpec(kind, TensorArgument(node.name), name, persistent))

    def _lift_arguments(self) -> tuple[list[Any], Any]:
        """The users' arguments become fake, with symbols for the sizes that may change."""
        _, in_spec = pytree.tree_flatten((self.args, self.kwargs))
        paths, _ = pytree.tree_flatten_with_path(self.named_arguments)
        fakes: list[Any] = []
        for place, ((path, x), shape) in enumerate(zip(paths, self.shapes, strict=True)):
            source = str(path[0].key) + pytree.keystr(path[1:])  # type: ignore[attr-defined]
            flat = "_".join(map(_word, path))
            if isinstance(x, Tensor):
                made = fake(x, self._sizes(x, shape, source, place))
                node = self.recorder.placeholder(flat, made)
                self.inputs.append(InputSpec(InputKind.USER_INPUT, TensorArgument(node.name), None))
                fakes.append(made)
            elif type(x) is int and isinstance(shape, _Hint) and shape.kind != "STATIC":
                number = self._number(x, flat, source, place)
                fakes.append(number)
            else:
                node = self.recorder.placeholder(flat, x)
                self.inputs.append(InputSpec(InputKind.USER_INPUT, ConstantArgument(node.name, x), None))
                fakes.append(x)
                if not isinstance(x, int | float | bool | str | complex | None | ts.dtype | ts.device):
                    raise ValueError(
                        f"Unsupported input type {type(x)}. Export only supports pytree containers of "
                        "basic types "
                        "(Tensor, int, float, ...) as input. To register a custom dataclass, use "
                        "torch.export.register_dataclass. To register a custom container type, use "
                        "torch.utils._pytree.register_pytree_node. To register a constant input, use "
                        "torch.utils._pytree.register_constant"
                    )
                self.checks.append(_is(source, place, x))
        return fakes, in_spec

    def _number(self, n: int, flat: str, source: str, place: int) -> Any:
        """The symbol of an int among the arguments that may change."""
        environment = self.environment
        self.places.leaves[source] = place
        made = symbol_of(environment.size(Source(source, None), n, 0), environment)
        node = self.recorder.placeholder(flat, made)
        self.inputs.append(InputSpec(InputKind.USER_INPUT, SymIntArgument(node.name), None))

        def holds(leaves: list[Any]) -> bool:
            return type(leaves[place]) is int and leaves[place] >= 0

        self.checks.append(Check(f"{source} >= 0", holds))
        return made

    def _sizes(self, x: Tensor, shape: Any, source: str, place: int) -> list[Any]:
        self.places.leaves[source] = place
        found: list[Any] = []
        for i, n in enumerate(x.shape):
            dim = shape.get(i) if isinstance(shape, dict) else None
            found.append(self._size(dim, n, Source(source, i)))
        self.tensors.append((source, place, found, list(x.shape)))
        return found

    def _size_checks(self) -> list[Check]:
        """What the sizes of arguments have to be."""
        environment = self.environment
        made: list[Check] = []
        seen: set[Any] = set()
        before: dict[Any, list[tuple[str, int, int, Any]]] = {}  # sizes derived of a symbol that comes later
        for source, place, sizes, _ in self.tensors:
            for i, size in enumerate(sizes):
                at = f"{source}.size()[{i}]"
                expression = expressions.lifted(size) if isinstance(size, int) else size.node.expr
                if expression.is_Symbol and expression not in seen:
                    seen.add(expression)
                    environment.sources[expression] = [Source(source, i)]
                    low, high = environment.ranges[expression]
                    if low > 2:
                        made.append(self._check(at, place, i, ">=", sympy.Integer(low)))
                    if not math.isinf(high):
                        made.append(self._check(at, place, i, "<=", sympy.Integer(high)))
                    for other, other_place, dim, size_there in before.pop(expression, ()):
                        made.append(self._check(other, other_place, dim, "==", size_there))
                elif (derived := self._derived(expression, source, i)) is not None:
                    made += self._derived_checks(at, place, i, derived, expression)
                    (symbol,) = expression.free_symbols
                    before.setdefault(symbol, []).append((at, place, i, expression))
                else:
                    least = environment.between(expression).low
                    if expression.free_symbols and not expression.is_Symbol and 2 < least < math.inf:
                        made.append(self._check(at, place, i, ">=", sympy.Integer(least)))
                    made.append(self._check(at, place, i, "==", expression))
        for guard in environment.guards:
            condition = environment.simplify(guard.condition)
            if (
                condition.free_symbols
                and environment.has_hint(condition)
                and not self.fixes._in_range(condition, next(iter(condition.free_symbols)))
            ):
                made.append(self.places.check(condition))
        return made

    def _derived(self, expression: Any, name: str, dim: int) -> Source | None:
        """The source of the symbol of a size that is some times it and more, if it is found there alone."""
        for symbol in expression.free_symbols:
            first = self.environment.sources[symbol][0]
            if (first.name, first.dim) == (name, dim) and (first.factor, first.offset) != (1, 0):
                return first
        return None

    def _derived_checks(self, at: str, place: int, dim: int, source: Source, expression: Any) -> list[Check]:
        """That a symbol can be found in a size."""
        (symbol,) = expression.free_symbols
        found = []
        if source.factor > 1:
            size = sympy.Symbol(at, integer=True)
            condition = sympy.Eq(expressions.Mod(size - source.offset, source.factor), 0)

            def holds(leaves: list[Any]) -> bool:
                return bool((leaves[place].size()[dim] - source.offset) % source.factor == 0)

            found.append(Check(text(condition, str), holds))
        ends = self.environment.ranges[symbol]
        for relation, end in ((">=", ends.low), ("<=", ends.high)):
            if not math.isinf(end) and not (relation == ">=" and end <= 2):
                limit = sympy.Integer(end * source.factor + source.offset)
                found.append(self._check(at, place, dim, relation, limit))
        return found

    def _check(self, at: str, place: int, dim: int, relation: str, expression: Any) -> Check:
        """x.size()[dim] in relation to an expression of the sizes before."""
        places, environment = self.places, self.environment
        compare = {">=": operator.ge, "<=": operator.le, "==": operator.eq}[relation]
        sources = {s: environment.sources[s][0] for s in expression.free_symbols}
        if not sources:
            limit = expressions.number(expression)

            def holds_of_number(leaves: list[Any]) -> bool:
                shape = leaves[place].size()
                return dim < len(shape) and bool(compare(shape[dim], limit))

            return Check(f"{at} {relation} {limit}", holds_of_number)

        def holds(leaves: list[Any]) -> bool:
            shape = leaves[place].size()
            numbers = {s: places.read(source, leaves) for s, source in sources.items()}
            return dim < len(shape) and bool(compare(shape[dim], expressions.value(expression, numbers)))

        return Check(f"{at} {relation} {text(expression, lambda s: str(sources[s]))}", holds)

    def _size(self, dim: Any, n: int, source: Source) -> Any:
        """The symbol of a size, or the number that it stays."""
        environment = self.environment
        if dim is None or isinstance(dim, int) or (isinstance(dim, _Hint) and dim.kind == "STATIC"):
            return n
        if isinstance(dim, _Hint):
            low, high = max(dim.min or 2, 2), math.inf if dim.max is None else dim.max
            if n < 2:
                return n
            symbol = environment.size(source, n, low, high)
            if dim.kind == "DYNAMIC":
                name = f"L['{source.name}'].size()[{source.dim}]"
                self.named.append(Named(name, symbol, source, Range(low, high), False))
            return symbol_of(symbol, environment)
        root = dim.root
        if not dim.min <= n <= dim.max:
            raise ConstraintViolationError(f"{n} not in range [{max(dim.min, 2)}, {dim.max}]")
        symbol = self.symbols.get(root.__name__)
        if symbol is None:
            hint = (n - dim.offset) // dim.factor
            symbol = self.symbols[root.__name__] = environment.size(source, hint, max(root.min, 2), root.max)
            if dim is not root:
                environment.sources[symbol] = [source._replace(factor=dim.factor, offset=dim.offset)]
            self.named.append(Named(root.__name__, symbol, source, Range(root.min, root.max), True))
            if hint < 2:
                environment.assume(sympy.Eq(symbol, hint))
        elif (hint := environment.hint(symbol) * dim.factor + dim.offset) != n:
            first = environment.sources[symbol][0]
            raise UserError(
                f"L['{source.name}'].size()[{source.dim}] = {n} is not equal to "
                f"L['{first.name}'].size()[{first.dim}] = {hint}"
            )
        return symbol_of(symbol * dim.factor + dim.offset, environment)

    def _outputs(self, leaves: list[Any]) -> tuple[list[Any], list[OutputSpec]]:
        nodes, specs = [], []
        for x in leaves:
            with self.recorder.recording():
                node = self.recorder.node_of(x)
            nodes.append(node)
            if isinstance(x, Tensor):
                argument: Any = TensorArgument(node.name)
            elif isinstance(x, Symbolic) and hasattr(node, "name"):
                kinds = {SymInt: SymIntArgument, SymFloat: SymFloatArgument, SymBool: SymBoolArgument}
                argument = kinds[type(x)](node.name)
            elif isinstance(x, int | float | bool | str | None):
                argument = ConstantArgument("", x)
            else:
                raise RuntimeError(f"{type(x)} cannot be a result of an exported program")
            specs.append(OutputSpec(OutputKind.USER_OUTPUT, argument, None))
        return nodes, specs

    def _lift_constants(self) -> dict[str, Any]:
        """Tensors that the program holds become inputs before the users' arguments."""
        found: dict[str, Any] = {}
        graph = self.recorder.graph
        first = next(
            i
            for i, s in enumerate([*self.inputs, InputSpec(InputKind.USER_INPUT, None, None)])
            if s.kind is InputKind.USER_INPUT
        )
        placeholders = [n for n in graph.nodes if n.op == "placeholder"]
        before = placeholders[first] if first < len(placeholders) else next(iter(graph.nodes))
        for k, (node, x) in enumerate(self.recorder.constants):
            name = f"lifted_tensor_{k}"
            with graph.inserting_before(before):
                made = graph.placeholder(f"c_{name}")
            made.meta = dict(node.meta)
            node.replace_all_uses_with(made)
            graph.erase_node(node)
            found[name] = x
            self.inputs.insert(
                first + k, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(made.name), name)
            )
        return found

    def _ranges(self) -> dict[Any, Any]:
        """What symbols may be, and sizes that are some times one and more."""
        environment = self.environment
        said = {n.symbol: n.range for n in self.named if n.is_dim}

        def ends_of(symbol: Any) -> Range:
            """A name's own least number counts, where the program did not ask for more than two."""
            ends, range = environment.ranges[symbol], said.get(symbol)
            if range is not None and ends.low == max(range.low, 2):
                return ends._replace(low=range.low)
            return ends

        found = {}
        for _, _, sizes, _ in self.tensors:
            for size in sizes:
                expression = None if isinstance(size, int) else size.node.expr
                if expression is not None and not expression.is_Symbol and expression.free_symbols:
                    ranges = {s: ends_of(s) for s in expression.free_symbols}
                    found[expression] = ValueRanges(*between(expression, ranges))
        for symbol in environment.ranges:
            if symbol not in environment.replaced and "_" not in str(symbol):
                found[symbol] = ValueRanges(*ends_of(symbol), bool(symbol.is_integer))
        return found


def _stays(node: Node) -> bool:
    """Whether a node without users stays: those that compute numbers and take results of branches out go."""
    if node.is_impure():
        return True
    if node.target is operator.getitem:
        source = node.args[0]
        return isinstance(source, Node) and isinstance(source.target, OpOverload)
    value = node.meta.get("val")
    numbers = all(isinstance(n.meta.get("val"), Symbolic) for n in node.all_input_nodes)
    is_size = str(node.target).startswith("aten.sym_")
    return not (is_size or (isinstance(value, Symbolic) and numbers))


def _is(source: str, place: int, value: Any) -> Check:
    """That an argument is what it was in the example."""
    if value is None:
        return Check(f"{source} is None", lambda leaves: leaves[place] is None)
    return Check(f"{source} == {value!r}", lambda leaves: bool(leaves[place] == value))


def _word(entry: Any) -> str:
    """A step of a path, as a part of a name."""
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


def _buffers(module: Module) -> list[tuple[str, Tensor, bool]]:
    found = []
    saved = module.state_dict()
    for name, x in module.named_buffers():
        found.append((name, x, name in saved))
    return found



