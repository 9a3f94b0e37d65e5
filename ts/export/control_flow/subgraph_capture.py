"""Capture of a function as the subgraph of a control-flow operator.

The example captures the function `true_fn`, which reads nodes of the surrounding graph:

    branch = Branch(recorder, sources)
    branch.capture(true_fn, (x,))        the results and memory effects of the function
    branch.lifted                        a dictionary from these nodes to inputs of the subgraph
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.aliases import Aliases
from ts._higher_order_ops.subgraph_checks import SubgraphResult
from ts.export import runtime_assertions, sympy_functions
from ts.export.control_flow.captured_inputs import Sources
from ts.export.fake import fake, is_fake
from ts.export.sym_node import symbol_of
from ts.export.tracer import ExportTracer
from ts.fx.node import Node
from ts.ops.namespace import overload_named
from ts.utils import _pytree as pytree


class Branch(ExportTracer):
    """Tracer of a branch or body function, used while the tracer `parent` records the operator's call."""

    inside = True

    def __init__(self, parent: ExportTracer, sources: Sources) -> None:
        observer = parent.environment.observer
        super().__init__(parent.environment)
        parent.environment.observer = observer
        self.parent = parent
        self.calls = parent.calls
        self.outer = parent.outer
        self.batches = parent.batches
        # node of the surrounding graph that the subgraph uses -> input node of the subgraph
        self.lifted: dict[Node, Node] = {}
        # name of an attribute of the subgraph's module -> constant tensor that the function created
        self.attributes: dict[str, Any] = {}
        self._sources = sources
        self._reals: dict[int, Tensor] = {}  # id of a fake tensor -> the real tensor that it stands for
        # expression of a size -> tensor from whose shape the function read it
        self._read: dict[Any, Tensor] = {}
        self._aliases = Aliases()
        self._outside: list[Tensor] = []

    def add_inputs(self, values: Sequence[Any]) -> list[Node | None]:
        """Create an input node for each tensor or symbol in `values`.

        Return a list with the node of each item, or None for an item that is neither a tensor nor a symbol.
        """
        nodes: list[Node | None] = []
        for x in values:
            if isinstance(x, Tensor | SymNumber):
                nodes.append(self._input(f"arg{len(nodes)}_1", x))
            else:
                nodes.append(None)
        return nodes

    def capture(self, function: Callable[..., Any], args: Any) -> SubgraphResult:
        """Call `function(*args)`, record its operators, and return its results, writes and aliases."""
        environment = self.environment
        before, environment.observer = environment.observer, self.arithmetic
        try:
            with self.recording():
                result = function(*args)
                leaves, spec = pytree.tree_flatten(result)
                leaves = [self.fake_of(x) if isinstance(x, Tensor) else x for x in leaves]
                for x in leaves:
                    self.node_of(x)
                runtime_assertions.insert(self)
        finally:
            environment.observer = before
        outside = [x for x in pytree.tree_leaves(args) if isinstance(x, Tensor)] + self._outside
        return SubgraphResult(leaves, spec, outside, self._aliases)

    # ---- values of the surrounding graph

    def _input(self, name: str, x: Any) -> Node:
        """Insert an input node after the existing input nodes."""
        first = next(iter(self.graph.nodes), None)
        if self._last_placeholder is not None:
            with self.graph.inserting_after(self._last_placeholder):
                return self.placeholder(name, x)
        if first is not None:
            with self.graph.inserting_before(first):
                return self.placeholder(name, x)
        return self.placeholder(name, x)

    def _lift(self, x: Any, name: str | None) -> Any:
        """Return the input node for `x`, a tensor or symbol of the surrounding recording.

        The first use creates the input.
        """
        outer = self.parent.node_of(x)
        if not isinstance(outer, Node):
            return outer
        if outer not in self.lifted:
            is_top = not isinstance(self.parent, Branch)
            self.lifted[outer] = self._input(name if is_top and name else outer.name, x)
        if isinstance(x, Tensor):
            self._outside.append(x)
        return self.lifted[outer]

    def fake_of(self, x: Tensor) -> Tensor:
        """Return the fake tensor that represents `x` in this recording.

        If this recording does not know `x`, the parent returns the fake tensor.
        """
        entry = self._fakes.get(id(x))
        if entry is None and is_fake(x) and (format_meta := self._same_memory(x)) is not None:
            entry = self._fakes[id(x)] = x, format_meta
        if entry is None and (is_fake(x) or id(x) in self._tensors):
            return x
        if entry is not None:
            return entry[1]
        fake_tensor = self.parent.fake_of(x)
        self._reals[id(fake_tensor)] = x
        return fake_tensor

    def _tensor_node(self, x: Tensor) -> Node:
        entry = self._tensors.get(id(x))
        if entry is not None:
            return entry[1]
        return self._lift(x, self._sources.tensor(x, self._reals.get(id(x))))  # type: ignore[no-any-return]

    def _size_node(self, expression: Any) -> Any:
        if sympy_functions.is_constant(expression):
            return sympy_functions.to_python_number(expression)
        if expression in self._size_nodes:
            return self._size_nodes[expression]
        name = self._sources.names_by_expression.get(expression)
        if expression in self._read:
            # Make the tensor an input of the subgraph, so that the subgraph can compute the size from it.
            self.node_of(self._read[expression])
        if name is None or expression in self._read:
            if (size := self._size_of_input(expression)) is not None:
                return size
            if not expression.is_Symbol:
                return self._computed(expression)
        return self._lift(symbol_of(expression, self.environment), name)

    def is_batch_element(self, node: Node) -> bool:
        """Return True if `node` is an input that stands for one element of a surrounding `vmap` batch.

        Also return True for arguments of the function, such as carried values, because they may be batch
        elements.
        """
        if node.op != "placeholder":
            return False
        outer = next((o for o, inner in self.lifted.items() if inner is node), None)
        return outer is None or self.parent.follows_from_batch(outer)

    # ---- operators that the function calls

    def run(self, op: Any, values: list[Any]) -> Any:
        """Record an operator call and return its result. Also record the results that alias arguments."""
        values = [self._with_fakes(x) for x in values]
        result = super().run(op, values)
        with self._comparing_examples():
            self._aliases.record_operator(op, values, result)
        return result

    def shape(self, x: Tensor) -> Any:
        """Return `x.shape` and record that its sizes were read from `x`."""
        sizes = super().shape(x)
        for n in sizes:
            if isinstance(n, SymNumber):
                self._read.setdefault(n.node.expr, x)
        return sizes

    def record_constructed(self, x: Tensor, function: str) -> Any:
        """Record that the program created `x` from Python numbers by `function`. Return a fake tensor.

        `x` becomes an attribute of the graph. Each call of the subgraph copies the attribute, because each
        call of the program would create a new tensor.
        """
        name = f"_tensor_constant{len(self.attributes)}"
        with self.paused():
            constant = x.clone()
            fake_copy = fake(constant)
        node = self.graph.create_node("get_attr", name)
        node.meta["val"] = fake_copy
        self._tensors[id(fake_copy)] = fake_copy, node
        self.attributes[name] = constant
        output = self.run(overload_named("aten::lift_fresh_copy", "").operator, [fake_copy])
        self.run(overload_named("aten::detach_", "").operator, [output])
        self.record_alias(x, output)
        return output

    @contextmanager
    def _comparing_examples(self) -> Iterator[None]:
        """Return a context in which example values decide comparisons of sizes.

        Within the context, comparisons add neither guards nor nodes.
        """
        before, self.environment.quiet = self.environment.quiet, True
        try:
            with self.paused():
                yield
        finally:
            self.environment.quiet = before
