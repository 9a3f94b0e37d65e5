"""Plans of differentiable graphs: forward and backward functions, and saved values.

Input: the rule of a differentiable graph, and arguments. Output: a `DifferentiablePlan`, or None if no graph
can represent the operators; in this case, autograd records the operators individually.

    forward(x, w) -> y, s            y is the result, s other values that backward reads
    backward(grad, x, w, s)          for the gradient of y
    backward(grad_s, x, w, s)        for the gradient of s, if backward is itself differentiated

To save few values, views of saved values and cheap elementwise functions of saved values are recomputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.autograd.differentiable_graph import BackwardVariant, DifferentiablePlan, GraphRule, set_planner
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


def get_plan_for_function(rule: GraphRule, args: list[Any], wanted: list[bool]) -> DifferentiablePlan | None:
    """Return the plan for arguments with these dtypes, shapes and `wanted` flags.

    Return None if there is none.
    """
    inputs = [Input.of(x, is_wanted) for x, is_wanted in zip(args, wanted, strict=True)]
    try:
        return _Planner(rule, inputs).plan()
    except Exception as error:
        if not is_untraceable(error):
            raise
        debug("autodiff", "operators run one by one: {}", error)
        return None


class _Planner:
    def __init__(self, rule: GraphRule, inputs: Sequence[Input]) -> None:
        self.rule = rule
        self.trace = Trace(rule.function, inputs)
        self.saved: list[ValuePosition] = []  # values that forward returns after the outputs

    def plan(self) -> DifferentiablePlan:
        trace = self.trace
        outputs = [trace.position[identity(x)] for x in trace.outputs]
        roots = [x for x in trace.outputs if x.requires_grad]
        reads = self.lessened(self.read_by(roots)) if roots else []
        hidden = [self.hidden_base(place) for place in outputs]
        saved = [*(place for place in reads if place[0] >= 0), *(place for place in hidden if place)]
        self.saved = [place for place in dict.fromkeys(saved) if place not in outputs]
        results = [*outputs, *self.saved]
        forward = SubgraphFunction(forward_graph(trace, self.saved), self.rule.prepare, "<forward>")
        saves = tuple(i if number < 0 else -1 - results.index((number, i)) for number, i in reads)
        wants = tuple(trace.tensor(place).requires_grad and not trace.is_input(place) for place in results)
        self.reads = {place: -1 - i for i, place in enumerate(reads)}
        bases = tuple(-1 if place is None else results.index(place) for place in hidden)
        return DifferentiablePlan(forward, len(outputs), wants, bases, saves, self.backward)

    def hidden_base(self, place: ValuePosition) -> ValuePosition | None:
        """Return the base of an output that is a view of an intermediate value, else None."""
        start, trace = place, self.trace
        while place[0] >= 0 and _is_view(trace.lines[place[0]]):
            place = trace.position[identity(trace.lines[place[0]][1][0])]
        return None if place == start or trace.is_input(place) else place

    def read_by(self, roots: Sequence[Tensor]) -> list[ValuePosition]:
        """Return the positions of the forward values that the backward graph of the results `roots` reads."""
        return backward_graph(self.trace, self.trace.record_backward(roots), [])[1]

    def lessened(self, reads: list[ValuePosition]) -> list[ValuePosition]:
        """Remove the positions of values that backward can recompute cheaply from other saved values."""
        kept = dict.fromkeys(reads)
        self.again: list[int] = []  # indices of recorded operations that the backward graph recomputes
        for place in sorted(reads):
            if place[0] >= 0 and self.is_quick(place, kept):
                del kept[place]
                self.again.append(place[0])
        return list(kept)

    def is_quick(self, place: ValuePosition, kept: dict[ValuePosition, None]) -> bool:
        operator, args, results = line = self.trace.lines[place[0]]
        record = operator.record
        if len(results) != 1 or record.variant or not _is_cheap(line):
            return False
        known = {*kept, *((number, 0) for number in self.again)}
        return all(self.trace.position.get(identity(x)) in known for x in args if isinstance(x, Tensor))

    def backward(self, given: tuple[int, ...]) -> BackwardVariant:
        """Build the backward graph whose inputs are gradients of the results with indices `given`."""
        trace = Trace(self.rule.function, self.trace.inputs)
        outputs = [trace.position[identity(x)] for x in trace.outputs]
        roots = [trace.tensor([*outputs, *self.saved][k]) for k in given]
        graph, places, gives = backward_graph(trace, trace.record_backward(roots), self.again)
        function = SubgraphFunction(graph, self.rule.prepare, "<backward>")
        return BackwardVariant(function, (*given, *(self.reads[place] for place in places)), tuple(gives))


def _is_cheap(line: Line) -> bool:
    """Return True if an operation is a view or a cheap ufunc; its result is recomputed instead of saved."""
    record = line[0].record
    return _is_view(line) or bool(record.ufunc and record.promotion != "float")


def _is_view(line: Line) -> bool:
    """Return True if the schema marks the result as an alias of the first argument, a tensor."""
    returned = line[0].schema.returns
    return bool(returned) and returned[0].alias is not None and isinstance(line[1][0], Tensor)


set_planner(get_plan_for_function)
