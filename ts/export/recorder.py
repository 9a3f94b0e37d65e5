"""Records what a program does on fake tensors: a graph of `ts.fx`, a node for each operator.

The thread asks the recorder instead of running operators (`ts._core.thread.context`):

    y = x + 1         operator(add, (x, 1)): node aten.add.Tensor(x, 1); y, fake, of its shape and dtype
    n = x.shape[0]    the symbol of that size; a node for it when something is called with it
    y.item()          a number that follows from data: a symbol without an example

Real tensors that the program holds are parameters, buffers or constants: each gets a node, and a fake one.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import sympy

import ts
from ts import devices, dtypes
from ts._core.dispatch.operator import expect_symbols
from ts._core.dispatch.overloads import overloads
from ts._core.tensor.symbols import Symbolic, SymFloat, SymInt
from ts._core.tensor.tensor import Size, Tensor
from ts._core.thread.context import TracedBy
from ts._higher_order_ops.checks import no_side_effects
from ts.export import data_dependent, expressions
from ts.export.environment import Environment
from ts.export.fake import Fake, device_of, fake, is_fake, plain, standing
from ts.export.nodes import FUNCTIONS, symbol_of
from ts.export.places import stack
from ts.fx.graph import Graph
from ts.fx.node import Node
from ts.ops import registry
from ts.ops.namespace import OpOverload, overload_named
from ts.tracing.indexing import get_index, put_index
from ts.tracing.types import arguments_of_to

# How operators on functions are recorded, by name, and calls of `vmap`: `ts.export.control_flow` says it.
CONTROL_FLOW: dict[str, Callable[..., Any]] = {}


class Recorder:
    """One recording."""

    def __init__(self, environment: Environment, graph: Graph | None = None) -> None:
        self.environment = environment
        self.graph = Graph() if graph is None else graph
        self.modules: list[tuple[str, str, type]] = []  # the modules whose forward runs: key, path, class
        self._tensors: dict[int, tuple[Tensor, Node]] = {}  # by id
        self._fakes: dict[int, tuple[Tensor, Tensor]] = {}  # of real tensors, by id
        self._numbers: dict[Any, Node] = {}  # by expression
        self.constants: list[tuple[Node, Tensor]] = []
        self.submodules: dict[str, Any] = {}  # graphs of the functions of `cond` and its like, by attribute
        self.batches = 0  # of `vmap`, that have begun
        self._head: Node | None = None  # the last placeholder: sizes of arguments stand behind it
        expect_symbols()
        environment.observer = self.arithmetic

    # ---- on and off

    def recording(self) -> TracedBy:
        """A context manager: within it, what this thread does is recorded."""
        return TracedBy(self)

    def paused(self) -> TracedBy:
        """A context manager: within it, nothing is recorded."""
        return TracedBy(None)

    def unrecorded(self, function: Callable[..., Any], *args: Any) -> Any:
        """function(*args), not recorded."""
        with self.paused():
            return function(*args)

    # ---- inputs

    def placeholder(self, name: str, value: Any) -> Node:
        """An input of the graph."""
        node = self.graph.placeholder(name)
        node.meta["val"] = value
        if isinstance(value, Tensor):
            self._tensors[id(value)] = value, node
        elif isinstance(value, Symbolic):
            self._numbers[value.node.expr] = node
        self._head = node
        return node

    def stand_for(self, real: Tensor, made: Tensor) -> None:
        """Let `made` be what runs where the program holds `real`."""
        self._fakes[id(real)] = real, made

    # ---- values in the graph

    def node_of(self, x: Any) -> Any:
        """The node of a tensor or symbol; other values stand in the graph as they are."""
        if isinstance(x, Tensor):
            return self._tensor_node(self.fake_of(x))
        if isinstance(x, Symbolic):
            return self._number_node(x.node.expr)
        if isinstance(x, list | tuple):
            made = [self.node_of(y) for y in x]
            return made if type(x) is not tuple else tuple(made)
        if isinstance(x, dict):
            return {k: self.node_of(y) for k, y in x.items()}
        if isinstance(x, slice):
            return slice(*map(self.node_of, (x.start, x.stop, x.step)))
        return x

    def fake_of(self, x: Tensor) -> Tensor:
        """The fake tensor that stands for one of the program: of a constant, if nobody said what it is."""
        if is_fake(x) or id(x) in self._tensors:
            return x
        found = self._fakes.get(id(x))
        if found is None:
            with self.paused():
                made = fake(x)
            node = self.graph.create_node("get_attr", f"_constant{len(self.constants)}")
            node.meta["val"] = made
            self.constants.append((node, x))
            self._tensors[id(made)] = made, node
            found = self._fakes[id(x)] = x, made
        return found[1]

    def _tensor_node(self, x: Tensor) -> Node:
        found = self._tensors.get(id(x))
        if found is None:
            raise RuntimeError("a fake tensor of another export is used in this one")
        return found[1]

    def _number_node(self, expression: Any) -> Any:
        if expressions.is_constant(expression):
            return expressions.number(expression)
        found = self._numbers.get(expression)
        if found is not None:
            return found
        if (size := self._size_of_input(expression)) is not None:
            return size
        if expression.is_Symbol and (solved := self._solved(expression)) is not None:
            return solved
        if expression.is_Symbol:
            raise RuntimeError(f"nothing in the graph says what {expression} is")
        return self._computed(expression)

    def _size_of_input(self, expression: Any) -> Node | None:
        """A size of an argument with this expression, if there is one; of a symbol, of whichever tensor "
        "has it."""
        for x, node in list(self._tensors.values()):
            if node.op != "placeholder" and not expression.is_Symbol:
                continue
            for dim, n in enumerate(x.array.shape):
                if isinstance(n, SymInt) and n.node.expr == expression:
                    first = expression.is_Symbol and self._head is not None and node.op == "placeholder"
                    at = self.graph.inserting_after(self._last_of_head()) if first else nullcontext()
                    with at:
                        made = self._call(overload_named("aten::sym_size", "int"), (node, dim), n)
                    self._numbers[expression] = made
                    return made
        return None

    def _solved(self, symbol: Any) -> Node | None:
        """A symbol of which some times and more is a size of an argument, computed from that."""
        for x, node in list(self._tensors.values()):
            for n in x.array.shape if node.op == "placeholder" else ():
                expression = n.node.expr if isinstance(n, SymInt) else None
                if expression is None or expression.free_symbols != {symbol}:
                    continue
                factor, offset = expression.coeff(symbol), expression.subs(symbol, 0)
                if not factor.is_Integer or not offset.is_Integer or factor * symbol + offset != expression:
                    continue
                found = self._size_of_input(expression)
                assert found is not None  # it is the size of this argument
                if offset != 0:
                    times = symbol_of(factor * symbol, self.environment)
                    found = self._call(FUNCTIONS["sub"], (found, int(offset)), times)
                if factor != 1:
                    by = (found, int(factor))
                    found = self._call(FUNCTIONS["floordiv"], by, symbol_of(symbol, self.environment))
                self._numbers[symbol] = found
                return found
        return None

    def _last_of_head(self) -> Node:
        """The last of the nodes that name sizes of arguments, behind the arguments."""
        node = self._head
        assert node is not None  # there is an argument with such a size
        while (
            node.next.op == "call_function"
            and str(node.next.target) == "aten.sym_size.int"
            and node.next.args[0].op == "placeholder"
        ):
            node = node.next
        return node

    def _computed(self, expression: Any) -> Node:
        """Nodes that compute an expression from its symbols."""
        function, _ = _CALLS.get(expression.func, (None, None))
        if function is None:
            raise RuntimeError(f"{expression} cannot be computed in a graph")
        parts = [self._number_node(a) for a in expression.args]
        found: Node = parts[0]
        for k, part in enumerate(parts[1:], 1):
            so_far = expression if k == len(parts) - 1 else expression.func(*expression.args[: k + 1])
            found = self._call(function, (found, part), symbol_of(so_far, self.environment))
        if len(parts) == 1:
            found = self._call(function, (found,), symbol_of(expression, self.environment))
        self._numbers[expression] = found
        return found

    def arithmetic(self, function: Any, arguments: tuple[Any, ...], result: Any) -> None:
        """A symbol that Python computed: a node of its own, unless there is one with this expression."""
        if ts._core.thread.context.current_tracer() is not self:
            return
        expression = result.node.expr
        if expression in self._numbers or self._size_of_input(expression) is not None:
            return
        node = self._call(function, tuple(map(self.node_of, self._as_one_kind(arguments))), result)
        self._numbers[expression] = node

    def _as_one_kind(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Whole numbers as floats, where some of several numbers are floats."""
        if len(arguments) < 2 or not any(isinstance(x, float | SymFloat) for x in arguments):
            return arguments
        return tuple(x.node.operate("sym_float", x) if isinstance(x, SymInt) else x for x in arguments)

    def _call(
        self, target: Any, args: tuple[Any, ...], value: Any, kwargs: dict[str, Any] | None = None
    ) -> Node:
        name = (
            target.overloadpacket.__name__
            if isinstance(target, OpOverload)
            else getattr(target, "__name__", "call")
        )
        node = self.graph.create_node("call_function", target, args, kwargs or {}, name=name)
        node.meta["val"] = value
        node.meta |= self._about()
        return node

    def _about(self) -> dict[str, Any]:
        """What is noted of a node: which lines of the program made it, in which modules."""
        found: dict[str, Any] = {}
        frames = stack()
        if frames:
            found["stack_trace"] = "".join(
                f'  File "{f.file}", line {f.line}, in {f.function}\n    {f.text}\n' for f in frames
            )
        if self.modules:
            found["nn_module_stack"] = {key: (path, kind) for key, path, kind in self.modules}
        return found

    # ---- operators

    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Run an operator on fake tensors and record it."""
        with self.paused():
            op, values, _ = operators.resolve(args, kwargs or {})
        if len(operators.operators()) > 1:
            op = _of_tensors(op)
        result = self.run(op, values)
        return operators.for_python(op, result) if hasattr(operators, "for_python") else result

    def run(self, op: Any, values: list[Any]) -> Any:
        """The result of an operator on these arguments, recorded."""
        values = [self._with_fakes(x) for x in values]
        target = overload_named(op.name, op.overload)
        arguments, options = self._arguments(op, values)
        with self.paused():
            result = self.computed(op, values)
        node = self._call(target, arguments, result, options)
        self._bind(node, result)
        return result

    def _with_fakes(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return self.fake_of(x)
        return [self._with_fakes(y) for y in x] if isinstance(x, list) else x

    def _arguments(self, op: Any, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a node: by position up to the last that is no default, the others by name."""
        positional: list[Any] = []
        options: dict[str, Any] = {}
        needed = 0
        for p, x in zip(op.signature.parameters, values, strict=True):
            is_default = p.has_default and not isinstance(x, Tensor | Symbolic) and _same(x, p.default)
            made = self.node_of(_readable(p.kind, x))
            if p.keyword_only:
                if not is_default and x is not None:
                    options[p.name] = made
            else:
                positional.append(made)
                needed = needed if is_default else len(positional)
        return tuple(positional[:needed]), options

    def computed(self, op: Any, values: list[Any]) -> Any:
        """What an operator makes of fake tensors: nothing is recorded."""
        rule = data_dependent.RULES.get(op.name)
        if rule is not None and (made := rule(self, op, values)) is not None:
            return made
        inner: dict[int, Tensor] = {}
        writes = any(p.written for p in op.signature.parameters)

        def lowered(x: Any) -> Any:
            if isinstance(x, Tensor):
                below = plain(x)
                inner[id(below)] = x
                return below
            if isinstance(x, devices.device):
                return devices.device("meta")
            return [lowered(y) for y in x] if isinstance(x, list) else x

        arguments = [
            _any_number(x) if _is_value(op, p.kind, x) else lowered(x)
            for p, x in zip(op.signature.parameters, values, strict=True)
        ]
        place = _place(op, values)
        if not any(isinstance(x, Tensor) for x in _flat(values)):
            arguments = [
                devices.device("meta") if p.kind == "Device" else x
                for p, x in zip(op.signature.parameters, arguments, strict=True)
            ]
        wanted = ts.is_grad_enabled() and any(
            isinstance(x, Tensor) and x.requires_grad for x in _flat(values)
        )
        environment = self.environment
        before, environment.quiet = environment.quiet, True
        try:
            with ts.no_grad():
                found = op.call_list(arguments)
        finally:
            environment.quiet = before

        def raised(x: Any) -> Any:
            if isinstance(x, Tensor):
                known = inner.get(id(x))
                if known is not None and writes:
                    if known.array is not x.array:
                        known.data = x
                    return known
                differentiable = wanted and (x.is_floating_point() or x.is_complex())
                return standing(x.array, place, differentiable)
            if (isinstance(x, tuple) and hasattr(x, "_fields")) or type(x).__module__ == "torch.return_types":
                return type(x)([raised(y) for y in x])
            return type(x)(map(raised, x)) if isinstance(x, list | tuple) else x

        return raised(found)

    def _bind(self, node: Node, result: Any) -> None:
        """Let a node stand for a result, and nodes that take them out for the items of several."""
        if isinstance(result, Tensor):
            self._tensors[id(result)] = result, node
        elif isinstance(result, Symbolic):
            self._numbers.setdefault(result.node.expr, node)
        elif isinstance(result, list | tuple):
            for k, item in enumerate(result):
                if isinstance(item, Tensor | Symbolic):
                    self._bind(self._call(python_operator.getitem, (node, k), item), item)

    # ---- methods of tensors

    def size(self, x: Tensor, dim: Any = None) -> Any:
        """x.size(dim)"""
        shape = self.shape(x)
        return shape if dim is None else shape[self.unrecorded(x._dimension, dim)]

    def shape(self, x: Tensor) -> Any:
        """x.shape"""
        return Size(x.array.shape)

    def numel(self, x: Tensor) -> Any:
        """x.numel()"""
        with self.paused():
            count = x.array.size
        if isinstance(count, Symbolic) and count.node.expr not in self._numbers:
            node = self._call(overload_named("aten::sym_numel", ""), (self.node_of(x),), count)
            self._numbers[count.node.expr] = node
        return count

    def get(self, x: Tensor, index: Any) -> Any:
        """x[index]"""
        return get_index(x, index, skip_whole=True)

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """x[index] = value"""
        put_index(x, index, value, skip_whole=True)

    def iterate(self, x: Tensor) -> Iterator[Tensor]:
        """The rows of `x`."""
        return iter(overloads("unbind")(x, 0))

    def to(self, x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        """x.to(...): the overload that takes what is named."""
        given = arguments_of_to(args, dict(kwargs))
        x = self.fake_of(x)
        device, dtype, other = given.get("device"), given.get("dtype"), given.get("other")
        rest = {k: given[k] for k in ("non_blocking", "copy", "memory_format") if given.get(k)}
        arguments: tuple[Any, ...]
        if other is not None:
            name, arguments = "other", (x, other)
        elif device is not None and dtype is not None:
            name, arguments = "device", (x, devices.as_device(device), dtypes.as_dtype(dtype))
        elif dtype is not None:
            name, arguments = "dtype", (x, dtypes.as_dtype(dtype))
        else:
            name, arguments = "dtype_layout", (x,)
            if device is not None:
                rest["device"] = devices.as_device(device)
        place = devices.as_device(device) if device is not None else device_of(x)
        if other is not None:
            place, dtype = device_of(self.fake_of(other)), other.dtype
        self._metadata(x)
        with self.paused():
            below = plain(x).to(dtype=dtype) if dtype is not None else plain(x)
            same = below.array is plain(x).array and place == device_of(x) and not given.get("copy")
            made = x if same else standing(below.array, place, x.requires_grad and below.is_floating_point())
        target = overload_named("aten::to", name)
        node = self._call(target, tuple(map(self.node_of, arguments)), made, rest)
        if same:
            with self.paused():
                made = standing(x.array, place, x.requires_grad)
            node.meta["val"] = made
        self._bind(node, made)
        return made

    def _metadata(self, x: Tensor) -> None:
        """What a conversion says of the tensor that it is given, which has to hold when the program runs."""
        target = overload_named("aten::_assert_tensor_metadata", "")
        options = {"dtype": x.dtype, "device": device_of(x), "layout": dtypes.strided}
        self._call(target, (self.node_of(x),), None, options)

    def constructed(self, x: Tensor, function: str) -> Any:
        """A tensor of numbers of Python: a constant, of which the program gets a copy each time it runs."""
        with self.paused():
            kept = x.clone()
        made = self.run(overload_named("aten::lift_fresh_copy", "").operator, [kept])
        self.run(overload_named("aten::detach_", "").operator, [made])
        self.stand_for(x, made)
        return made

    def escape(self, x: Tensor, kind: str, number: Any) -> None:
        """A tensor became a value of Python: those of fake tensors were recorded by `element`."""

    def element(self, x: Tensor) -> Any:
        """The only element of a fake tensor: a number that follows from data."""
        return self.run(overload_named("aten::item", "").operator, [x])

    # ---- scripted functions, modules, control flow

    def higher_order(self, operator: Any, args: tuple[Any, ...]) -> Any:
        """An operator on functions (`ts._higher_order_ops`)."""
        rule = CONTROL_FLOW.get(operator.name)
        if rule is None:
            return operator.run(*args)
        with no_side_effects(operator.name, filter(callable, args)):
            return rule(self, *args)

    def vmap(self, call: Any, *given: Any) -> Any:
        """A function on a batch (`ts.func.vmap`)."""
        return CONTROL_FLOW["vmap"](self, call, *given)

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A scripted function: what it is written as runs."""
        written = getattr(function, "__wrapped__", None)
        if written is None:
            raise ts.errors.UserError(f"{function!r} is compiled, and cannot be exported")
        return written(*args, **kwargs)

    def forward_of(self, module: Any) -> Callable[..., Any]:
        """A module's `forward`, which the nodes inside are noted with."""
        return module.forward  # type: ignore[no-any-return]


def _place(op: Any, values: list[Any]) -> devices.device:
    """The device of what an operator makes."""
    for p, x in zip(op.signature.parameters, values, strict=True):
        if p.kind == "Device" and x is not None:
            return x  # type: ignore[no-any-return]
    found = [device_of(x) for x in _flat(values) if isinstance(x, Tensor)]
    others = [d for d in found if d.type != "cpu"]
    return others[0] if others else found[0] if found else devices.CPU


_SIZES = frozenset(("aten::arange", "aten::linspace", "aten::logspace", "aten::range"))  # of numbers


def _of_tensors(op: Any) -> Any:
    """The overload that PyTorch's Python calls with a number: that of tensors, where it takes numbers."""
    if op.key == "aten::split.sizes":
        return registry.operator("aten::split_with_sizes")
    if op.overload == "Scalar":
        for other in registry.lookup(op.name):
            if other.overload == "Tensor" and other.record is not None and other.record.wraps_numbers:
                return other
    return op


def _is_value(op: Any, kind: str, x: Any) -> bool:
    """Whether an argument is a symbol whose number does not count for the result's shape."""
    return isinstance(x, Symbolic) and kind in ("Tensor", "Scalar") and op.name not in _SIZES


def _any_number(x: Symbolic) -> Any:
    """A number in the place of a symbol, of its kind."""
    return 2 if isinstance(x, SymInt) else 0.5 if isinstance(x, SymFloat) else True


def _flat(values: Any) -> Iterator[Any]:
    for x in values:
        if isinstance(x, list | tuple):
            yield from _flat(x)
        else:
            yield x


def _same(x: Any, default: Any) -> bool:
    return (type(x) is type(default) and bool(x == default)) or (x is None and default is None)


def _readable(kind: str, x: Any) -> Any:
    """Numbers of dtypes and layouts as the objects that they are."""
    if type(x) is not int:
        return x
    if kind == "ScalarType":
        return dtypes.BY_CODE[x]
    if kind == "Layout":
        return dtypes.strided
    if kind == "MemoryFormat":
        return next(f for f in dtypes.MEMORY_FORMATS if f.code == x)
    return x


_CALLS = {
    sympy.Add: (FUNCTIONS["add"], 2),
    sympy.Mul: (FUNCTIONS["mul"], 2),
    sympy.Pow: (FUNCTIONS["pow"], 2),
    expressions.FloorDiv: (FUNCTIONS["floordiv"], 2),
    expressions.Mod: (FUNCTIONS["mod"], 2),
    expressions.IntTrueDiv: (FUNCTIONS["truediv"], 2),
    expressions.FloatTrueDiv: (FUNCTIONS["truediv"], 2),
    expressions.FloatPow: (FUNCTIONS["pow"], 2),
    expressions.PowByNatural: (FUNCTIONS["pow"], 2),
    expressions.ToFloat: (FUNCTIONS["sym_float"], 1),
    expressions.TruncToInt: (FUNCTIONS["trunc"], 1),
    expressions.FloorToInt: (FUNCTIONS["floor"], 1),
    expressions.CeilToInt: (FUNCTIONS["ceil"], 1),
    expressions.RoundToInt: (FUNCTIONS["round"], 1),
    sympy.Max: (FUNCTIONS["sym_max"], 2),
    sympy.Min: (FUNCTIONS["sym_min"], 2),
    sympy.Abs: (FUNCTIONS["abs"], 1),
    sympy.Eq: (FUNCTIONS["eq"], 2),
    sympy.Ne: (FUNCTIONS["ne"], 2),
    sympy.Lt: (FUNCTIONS["lt"], 2),
    sympy.Le: (FUNCTIONS["le"], 2),
    sympy.Gt: (FUNCTIONS["gt"], 2),
    sympy.Ge: (FUNCTIONS["ge"], 2),
    sympy.And: (FUNCTIONS["and"], 2),
    sympy.Or: (FUNCTIONS["or"], 2),
    sympy.Not: (FUNCTIONS["sym_not"], 1),
    **{function: (FUNCTIONS.get(f"sym_{name}"), 1) for name, function in expressions.REAL.items()},
}

__all__ = ["Fake", "Recorder"]
