"""Plans of differentiable graphs, with saved activations and rematerialization (recomputation) of values.

A `DifferentiablePlan` has a forward graph and backward graphs. The example is for a function y = f(x, w). The
backward graphs read intermediate values s:

    forward(x, w) -> y, s
    backward(grad, x, w, s)          backward pass for the gradient of y
    backward(grad_s, x, w, s)        backward pass for the gradient of s, for second derivatives

To save fewer values, backward recomputes views and cheap elementwise functions of saved values. If graphs
cannot represent the operators, the plan is None. Then autograd records each operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.autograd.differentiable_graph import BackwardVariant, DifferentiablePlan, GraphRule
from ts._core.dispatch.op_log import identity
from ts._core.tensor.tensor import Tensor
from ts.autodiff.tape_to_graph import (
    Input,
    Line,
    Trace,
    backward_graph,
    forward_graph,
    is_untraceable,
)
from ts.bytecode.subgraph_functions import SubgraphFunction
from ts.passes.pass_logging import debug

ValuePosition = tuple[int, int]


def get_plan_for_function(
    rule: GraphRule, args: list[Any], requires_grad: list[bool]
) -> DifferentiablePlan | None:
    """Return the plan for arguments with the dtypes and shapes of `args` and the flags `requires_grad`.

    Return None if the function of `rule` cannot be expressed as a graph of tensor operators.
    """
    inputs = [Input.of(x, is_wanted) for x, is_wanted in zip(args, requires_grad, strict=True)]
    try:
        return _Planner(rule, inputs).plan()
    except Exception as error:
        if not is_untraceable(error):
            raise
        debug("create_autodiff_subgraphs", "operators run one by one: {}", error)
        return None


class _Planner:
    def __init__(self, rule: GraphRule, inputs: Sequence[Input]) -> None:
        self.rule = rule
        self.trace = Trace(rule.function, inputs)
        # values for backward, which the forward graph returns after the outputs
        self.saved: list[ValuePosition] = []

    def plan(self) -> DifferentiablePlan:
        trace = self.trace
        outputs = [trace.position[identity(x)] for x in trace.outputs]
        roots = [x for x in trace.outputs if x.requires_grad]
        reads = self.remove_recomputable(self.read_by(roots)) if roots else []
        base_positions = [self.hidden_base(position) for position in outputs]
        saved = [
            *(position for position in reads if position[0] >= 0),
            *(position for position in base_positions if position),
        ]
        self.saved = [position for position in dict.fromkeys(saved) if position not in outputs]
        results = [*outputs, *self.saved]
        forward = SubgraphFunction(forward_graph(trace, self.saved), self.rule.prepare, "<forward>")
        saves = tuple(i if line_index < 0 else -1 - results.index((line_index, i)) for line_index, i in reads)
        requires_grad = tuple(
            trace.tensor(position).requires_grad and not trace.is_input(position) for position in results
        )
        self.reads = {position: -1 - i for i, position in enumerate(reads)}
        bases = tuple(-1 if position is None else results.index(position) for position in base_positions)
        return DifferentiablePlan(forward, len(outputs), requires_grad, bases, saves, self.backward)

    def hidden_base(self, position: ValuePosition) -> ValuePosition | None:
        """Return the position of the intermediate value that the output at `position` views, or None."""
        start, trace = position, self.trace
        while position[0] >= 0 and _is_view(trace.lines[position[0]]):
            position = trace.position[identity(trace.lines[position[0]][1][0])]
        return None if position == start or trace.is_input(position) else position

    def read_by(self, roots: Sequence[Tensor]) -> list[ValuePosition]:
        """Return the positions of the forward values that a backward pass from `roots` reads."""
        return backward_graph(self.trace, self.trace.record_backward(roots), [])[1]

    def remove_recomputable(self, reads: list[ValuePosition]) -> list[ValuePosition]:
        """Return `reads` without values that backward can recompute cheaply. Store how in `recomputed`."""
        remaining = dict.fromkeys(reads)
        # indices of the forward operations that the backward graph repeats
        self.recomputed: list[int] = []
        for position in sorted(reads):
            if position[0] >= 0 and self.is_recomputable(position, remaining):
                del remaining[position]
                self.recomputed.append(position[0])
        return list(remaining)

    def is_recomputable(self, position: ValuePosition, saved: dict[ValuePosition, None]) -> bool:
        operator, args, results = line = self.trace.lines[position[0]]
        record = operator.record
        if len(results) != 1 or record.variant or not _is_cheap(line):
            return False
        available = {*saved, *((line_index, 0) for line_index in self.recomputed)}
        return all(self.trace.position.get(identity(x)) in available for x in args if isinstance(x, Tensor))

    def backward(self, result_indices: tuple[int, ...]) -> BackwardVariant:
        """Build the backward graph whose inputs are the gradients of the results at `result_indices`."""
        trace = Trace(self.rule.function, self.trace.inputs)
        outputs = [trace.position[identity(x)] for x in trace.outputs]
        roots = [trace.tensor([*outputs, *self.saved][k]) for k in result_indices]
        graph, input_positions, gradient_indices = backward_graph(
            trace, trace.record_backward(roots), self.recomputed
        )
        function = SubgraphFunction(graph, self.rule.prepare, "<backward>")
        return BackwardVariant(
            function,
            (*result_indices, *(self.reads[position] for position in input_positions)),
            tuple(gradient_indices),
        )


def _is_cheap(line: Line) -> bool:
    """Return whether an operation is cheap: backward then repeats it, instead of saving its result.

    Views and some ufuncs are cheap.
    """
    record = line[0].record
    return _is_view(line) or bool(record.ufunc and record.promotion != "float")


def _is_view(line: Line) -> bool:
    """Return whether the schema marks the result as a view: an alias of the first argument, a tensor."""
    returned = line[0].schema.returns
    return bool(returned) and returned[0].alias is not None and isinstance(line[1][0], Tensor)
