from collections.abc import Callable
from typing import Any

from ts._core.autograd.rule import Rule
from ts._core.dispatch.operator import Operator
from ts._core.vm.code import Code
from ts._core.vm.function import Function

class BackwardVariant:
    def __init__(
        self, function: Function, input_sources: tuple[int, ...], edge_indices: tuple[int, ...]
    ) -> None: ...

class DifferentiablePlan:
    def __init__(
        self,
        forward: Function,
        output_count: int,
        has_gradient: tuple[bool, ...],
        bases: tuple[int, ...],
        saves: tuple[int, ...],
        build: Callable[[tuple[int, ...]], BackwardVariant],
    ) -> None: ...

class GraphRule(Rule):
    function: Function
    prepare: Callable[[Any, str], Code]
    plan_count: int
    last_required_grad: tuple[bool, ...] | None
    def __init__(
        self, make_subgraph: Callable[[], Function], prepare: Callable[[Any, str], Code]
    ) -> None: ...

def bind(op: Operator, rule: GraphRule) -> None: ...
def rule_of_graph(op: Operator) -> GraphRule: ...
