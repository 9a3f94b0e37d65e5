"""Incremental construction of a graph during tracing: nodes of tensors and of symbolic arithmetic.

Each line shows a call and its result, for a tensor x with the symbolic size n:

    recorder.node_of(x)         the node of the tensor
    recorder.node_of(n + 1)     a node for the sum. The size n gets a node first
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import ts
from ts._core.dispatch.operator import expect_symbols
from ts._core.dispatch.overloads import overloads
from ts._core.tensor.sym_types import SymFloat, SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of
from ts._core.thread.context import TracingScope
from ts._core.thread.tracer_protocol import TracerProtocol
from ts.errors import UserError
from ts.export import sympy_functions
from ts.export.fake import fake, is_fake
from ts.export.hop_regions import Block, block_of_autocast, block_of_grad
from ts.export.identifiers import word
from ts.export.input_guards import Line
from ts.export.module_calls import ModuleCalls
from ts.export.node_metadata import FunctionCounter
from ts.export.shape_env import ShapeEnv
from ts.export.size_operations import TARGETS
from ts.export.sym_node import symbol_of
from ts.export.sympy_import import sympy
from ts.export.user_frames import UserFrame, stack
from ts.fx.graph import Graph
from ts.fx.node import Node
from ts.ops.namespace import OpOverload, overload_named


class FxGraphBuilder(TracerProtocol):
    """Graph under construction, with the nodes of tensors and symbolic numbers."""

    inside = False  # True in a tracer that records the subgraph of a control-flow operator
    fake_mode_error = (
        "`with ts.fake()` (FakeTensorMode) inside of an exported program would create tensors without "
        "elements, which the program needs when it runs: remove the block, or call export inside of it"
    )

    def __init__(self, environment: ShapeEnv, graph: Graph | None = None) -> None:
        self.environment = environment
        self.graph = Graph() if graph is None else graph
        # Recorder of submodule calls, or None for the replay of a graph, which contains no such calls.
        self.calls: ModuleCalls | None = None
        # Counter of the nodes that call each function, or None if nodes get no metadata `torch_fn`.
        self.functions: FunctionCounter | None = None
        self._tensors: dict[int, tuple[Tensor, Node]] = {}  # id of a tensor -> (the tensor, its node)
        # id of a real tensor -> (the real tensor, the fake tensor that stands for it)
        self._fakes: dict[int, tuple[Tensor, Tensor]] = {}
        # id of a tensor -> layer that the tensor had when its node was recorded. An assignment `x.data = y`
        # in the program changes the layer of `x`.
        self._layers: dict[int, Any] = {}
        self._size_nodes: dict[Any, Node] = {}  # expression of a symbolic number -> node that computes it
        self.constants: list[tuple[Node, Tensor]] = []
        # name of an attribute of the graph's module -> subgraph of a control-flow operator
        self.submodules: dict[str, Any] = {}
        self.batches = 0  # number of `vmap` calls that have begun and not ended
        self.outer = len(stack())  # number of user frames outside of the recorded program
        self.casts: list[tuple[Any, ...]] = []  # autocast blocks that the program has entered and not left
        # node -> grad-mode and autocast blocks that contain the call of the node, outermost first
        self.blocks: dict[Node, tuple[Block, ...]] = {}
        self.notes_blocks = True
        self._gradients_around = ts.is_grad_enabled()
        # grad mode before the current call of a `torch.autograd.Function`, or None outside of such calls
        self._gradients_of_call: bool | None = None
        # the last placeholder. Nodes that compute sizes of arguments are inserted after it.
        self._last_placeholder: Node | None = None
        expect_symbols()
        environment.observer = self.arithmetic

    @property
    def line(self) -> Line | None:
        """Source line that the running compiled function executes."""
        return self.environment.line

    @line.setter
    def line(self, line: Line | None) -> None:
        self.environment.line = line

    # ---- recording contexts

    def recording(self) -> TracingScope:
        """Return a context in which operators called by this thread are recorded."""
        return TracingScope(self)

    def paused(self) -> TracingScope:
        """Return a context in which this thread records nothing."""
        return TracingScope(None)

    def unrecorded(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call function(*args) without recording."""
        with self.paused():
            return function(*args)

    # ---- graph inputs

    def placeholder(self, name: str, value: Any) -> Node:
        """Create a graph input for `value`, with a valid and unique name.

        Invalid characters in `name` become `_`. A duplicate name gets a numeric suffix. Names of Python
        builtins are allowed.
        """
        name = word(name)
        node = self.graph.placeholder(name)
        if hasattr(builtins, name) and all(other.name != name for other in self.graph.nodes):
            node.name = name
        node.target = node.name
        node.meta["val"] = value
        if isinstance(value, Tensor):
            self._tensors[id(value)] = value, node
            self._layers[id(value)] = layer_of(value)
        elif isinstance(value, SymNumber):
            self._size_nodes[value.node.expr] = node
        self._last_placeholder = node
        return node

    def record_alias(self, real: Tensor, fake_tensor: Tensor) -> None:
        """Represent the program's tensor `real` by `fake_tensor` in the graph."""
        self._fakes[id(real)] = real, fake_tensor

    def is_state(self, real: Tensor) -> bool:
        """Return True if a tensor is a parameter or buffer of the program."""
        return id(real) in self._fakes and not any(real is x for _, x in self.constants)

    def example(self, fake_tensor: Tensor, real: Tensor) -> None:
        """Record the real tensor that `fake_tensor` represents. Only tracers of draft exports do this."""

    # ---- nodes of tensors and symbolic numbers

    def node_of(self, x: Any) -> Any:
        """Return `x` in which each tensor and each symbolic number is replaced by its node."""
        if isinstance(x, Tensor):
            return self._tensor_node(self.fake_of(x))
        # `expression` is the expression at recording time, a key of `_size_nodes`. `expr` is the same
        # expression after the use of equalities that were found later.
        if isinstance(x, SymNumber):
            if not self.environment.frozen and (constant := x.node.expr).is_number:
                return sympy_functions.to_python_number(constant)
            size_node = self._size_nodes.get(x.node.expression)
            return self._size_node(x.node.expr) if size_node is None else size_node
        if isinstance(x, list | tuple):
            elements = [self.node_of(y) for y in x]
            return elements if type(x) is not tuple else tuple(elements)
        if isinstance(x, dict):
            return {k: self.node_of(y) for k, y in x.items()}
        if isinstance(x, slice):
            return slice(*map(self.node_of, (x.start, x.stop, x.step)))
        return x

    def fake_of(self, x: Tensor) -> Tensor:
        """Return the fake tensor of `x`. A real tensor that is not yet in the graph becomes a constant."""
        entry = self._fakes.get(id(x))
        if entry is None and is_fake(x) and (shared_fake := self._same_memory(x)) is not None:
            entry = self._fakes[id(x)] = x, shared_fake
        if entry is None and (is_fake(x) or id(x) in self._tensors):
            return x
        if entry is None:
            with self.paused():
                fake_tensor = fake(x)
            node = self.graph.create_node("get_attr", f"_constant{len(self.constants)}")
            node.meta["val"] = fake_tensor
            self.constants.append((node, x))
            self._tensors[id(fake_tensor)] = fake_tensor, node
            self._layers[id(fake_tensor)] = layer_of(fake_tensor)
            entry = self._fakes[id(x)] = x, fake_tensor
        return entry[1]

    def _same_memory(self, x: Tensor) -> Tensor | None:
        """Return a detached alias of a recorded tensor with the same memory as `x`, or None.

        Tensors share memory after an assignment to `.data`.
        """
        layer = layer_of(x)
        if self._layers.get(id(x), layer) is layer and id(x) in self._tensors:
            return None
        for y, _ in self._tensors.values():
            if y is not x and layer_of(y) is layer and self._layers.get(id(y)) is layer:
                with self.recording():
                    return overloads("detach")(y)  # type: ignore[no-any-return]
        return None

    def check_arguments(self) -> None:
        """Raise UserError if the program replaced the data of an argument (`x.data = y`)."""
        for x, node in self._tensors.values():
            if node.op == "placeholder" and layer_of(x) is not self._layers.get(id(x), layer_of(x)):
                raise UserError(
                    f"{node.name}.data = ... cannot be exported, because it would change the "
                    f"argument: use {node.name}.copy_(...)"
                )

    def _tensor_node(self, x: Tensor) -> Node:
        entry = self._tensors.get(id(x))
        if entry is None:
            raise RuntimeError("a fake tensor of another export is used in this export")
        return entry[1]

    def _size_node(self, expression: Any) -> Any:
        if sympy_functions.is_constant(expression):
            return sympy_functions.to_python_number(expression)
        node = self._size_nodes.get(expression)
        if node is not None:
            return node
        if (size := self._size_of_input(expression)) is not None:
            return size
        if expression.is_Symbol and (solved := self._solved(expression)) is not None:
            return solved
        if expression.is_Symbol:
            raise RuntimeError(f"no value in the graph determines {expression}")
        return self._computed(expression)

    def _size_of_input(self, expression: Any) -> Node | None:
        """Return a new `sym_size` node for a tensor size that equals `expression`, or None if there is none.

        If `expression` is a symbol, the sizes of all tensors are searched, else only the sizes of arguments.
        """
        for x, node in list(self._tensors.values()):
            if node.op != "placeholder" and not expression.is_Symbol:
                continue
            for dim, n in enumerate(x.array.shape):
                if isinstance(n, SymInt) and n.node.expr == expression:
                    first = (
                        expression.is_Symbol
                        and self._last_placeholder is not None
                        and node.op == "placeholder"
                    )
                    before = self._find_size_node_position(node, dim) if first else None
                    at = nullcontext() if before is None else self.graph.inserting_after(before)
                    with at:
                        size_node = self._call(overload_named("aten::sym_size", "int"), (node, dim), n)
                    self._size_nodes[expression] = size_node
                    return size_node
        return None

    def _solved(self, symbol: Any) -> Node | None:
        """Return a node that computes `symbol`, if an argument size is `factor * symbol + offset`.

        Return None if no argument has such a size.
        """
        for x, node in list(self._tensors.values()):
            for n in x.array.shape if node.op == "placeholder" else ():
                expression = n.node.expr if isinstance(n, SymInt) else None
                if expression is None or expression.free_symbols != {symbol}:
                    continue
                factor, offset = expression.coeff(symbol), expression.subs(symbol, 0)
                if not factor.is_Integer or not offset.is_Integer or factor * symbol + offset != expression:
                    continue
                result = self._size_of_input(expression)
                # `expression` is the size of a placeholder, so `_size_of_input` finds it
                assert result is not None
                if offset != 0:
                    times = symbol_of(factor * symbol, self.environment)
                    result = self._call(TARGETS["sub"], (result, int(offset)), times)
                if factor != 1:
                    by = (result, int(factor))
                    result = self._call(TARGETS["floordiv"], by, symbol_of(symbol, self.environment))
                self._size_nodes[symbol] = result
                return result
        return None

    def _find_size_node_position(self, argument: Node, dim: int) -> Node:
        """Return the node after which the `sym_size` node for `argument` and `dim` must be inserted.

        All `sym_size` nodes follow the placeholders, in the order of arguments and dimensions.
        """
        node = self._last_placeholder
        assert node is not None  # `argument` is a placeholder
        before, first = set(), argument.prev
        while first.op == "placeholder":
            before.add(first)
            first = first.prev
        while (
            node.next.op == "call_function"
            and str(node.next.target) == "aten.sym_size.int"
            and (node.next.args[0] in before or (node.next.args[0] is argument and node.next.args[1] < dim))
        ):
            node = node.next
        return node

    def move_derived_sizes(self) -> None:
        """Move the size nodes of expressions of other sizes from the placeholders to their first use.

        As in PyTorch, only nodes of sizes that are symbols follow the placeholders.
        """
        sizes: list[Node] = []
        node = self._last_placeholder
        while node is not None and str(node.next.target) == "aten.sym_size.int":
            node = node.next
            sizes.append(node)
        for node in sizes:
            value = node.meta["val"]
            if isinstance(value, SymInt) and not value.node.expr.is_Symbol and node.users:
                min(node.users).prepend(node)

    def _computed(self, expression: Any) -> Node:
        """Create nodes that compute `expression` from the nodes of its symbols, and return the last node."""
        if isinstance(expression, sympy.Piecewise):
            return self._chosen(expression)
        operation, _ = sympy_functions.FUNCTIONS.get(expression.func, (None, None))
        if operation is None or operation.target is None:
            raise RuntimeError(f"{expression} cannot be computed in a graph")
        operands = [self._size_node(a) for a in expression.args]
        result: Node = operands[0]
        for k, operand in enumerate(operands[1:], 1):
            so_far = expression if k == len(operands) - 1 else expression.func(*expression.args[: k + 1])
            result = self._call(operation.target, (result, operand), symbol_of(so_far, self.environment))
        if len(operands) == 1:
            result = self._call(operation.target, (result,), symbol_of(expression, self.environment))
        self._size_nodes[expression] = result
        return result

    def _chosen(self, expression: Any) -> Node:
        """Create nested `sym_ite` nodes for a Piecewise expression."""
        *pairs, (last, _) = expression.args
        result = self._size_node(last)
        for value, condition in reversed(pairs):
            operands = (self._size_node(condition), self._size_node(value), result)
            last = sympy.Piecewise((value, condition), (last, True))
            result = self._call(TARGETS["sym_ite"], operands, symbol_of(last, self.environment))
        self._size_nodes[expression] = result
        return result  # type: ignore[no-any-return]

    def arithmetic(self, function: Any, arguments: tuple[Any, ...], result: Any) -> None:
        """Record a node that computes `result`, unless the graph already has a node for the same expression.

        `function` is a Python operation on symbols. Nothing is recorded while another tracer is active.
        """
        if ts._core.thread.context.current_tracer() is not self:
            return
        expression = result.node.expr
        if expression in self._size_nodes or self._size_of_input(expression) is not None:
            return
        node = self._call(function, tuple(map(self.node_of, self._as_one_kind(arguments))), result)
        self._size_nodes[expression] = node

    def _as_one_kind(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Convert int arguments to floats if at least one argument is a float, as in Python's arithmetic."""
        if len(arguments) < 2 or not any(isinstance(x, float | SymFloat) for x in arguments):
            return arguments
        return tuple(map(_as_float, arguments))

    def _call(
        self,
        target: Any,
        args: tuple[Any, ...],
        value: Any,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Node:
        if name is None:
            function = target.overloadpacket if isinstance(target, OpOverload) else target
            name = self.graph._target_to_str(getattr(function, "__name__", "call"))
        node = self.graph.create_node("call_function", target, args, kwargs or {}, name=name)
        node.meta["val"] = value
        node.meta |= self._about()
        if self.functions is not None:
            node.meta["torch_fn"] = self.functions.function_of(target)
        if self.notes_blocks and not isinstance(value, SymNumber):
            self.blocks[node] = self._entered_blocks()
        return node

    @contextmanager
    def in_function(self) -> Iterator[None]:
        """Return a context for the call of an autograd function.

        Grad-mode changes in the call start no block.
        """
        before = self._gradients_of_call
        self._gradients_of_call = ts.is_grad_enabled() if before is None else before
        try:
            yield
        finally:
            self._gradients_of_call = before

    def _entered_blocks(self) -> tuple[Block, ...]:
        """Return the grad-mode and autocast blocks of the program that enclose the running code."""
        casts = tuple(block_of_autocast(*cast) for cast in self.casts)
        enabled = ts.is_grad_enabled() if self._gradients_of_call is None else self._gradients_of_call
        return casts if enabled == self._gradients_around else (*casts, block_of_grad(enabled))

    def _about(self) -> dict[str, Any]:
        """Return metadata for a new node: `stack_trace` and `nn_module_stack`."""
        metadata: dict[str, Any] = {}
        frames: list[UserFrame | Line] = [*stack()[self.outer :]]
        if self.line is not None:
            frames.append(self.line)
        if frames:
            metadata["stack_trace"] = "\n  ".join(
                f'File "{f.file}", line {f.line}, in {f.function}\n    {f.text}' for f in frames
            )
        if self.calls is not None:
            metadata["nn_module_stack"] = self.calls.stack
        return metadata


def _as_float(x: Any) -> Any:
    """Convert an int or SymInt to float. Other values are returned unchanged."""
    if isinstance(x, SymInt):
        return x.node.operate("sym_float", x)
    return float(x) if type(x) is int else x
