"""Debug state of compiled functions, with the interface of PyTorch's `GraphExecutorState`.

The debug state of a scripted function contains its executed graph and execution plans. After the first call,
there is one plan:

    state = scripted.get_debug_state()
    state.graph                                   the optimized graph of the last call
    (plan,) = state.execution_plans.values()
    plan.graph                                    the same graph
    plan.code.num_bailouts()                      0, because execution never leaves specialized code
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ts.ir.graph import Graph
from ts.runtime.executor import executed_graph

if TYPE_CHECKING:
    from ts.runtime.function import ScriptFunction


@dataclass(frozen=True)
class PlanCode:
    """Code of an execution plan, which has no bailouts."""

    def num_bailouts(self) -> int:
        """Return 0: execution never leaves specialized code."""
        return 0

    def request_bailout(self, index: int) -> None:
        """Raise IndexError, because the code has no bailout that could be requested."""
        raise IndexError(f"invalid bailout index {index}: the code has no bailouts")

    def grad_executor_states(self) -> list[GraphExecutorState]:
        """Return an empty list: backward passes have no graph executors of their own."""
        return []


@dataclass(frozen=True)
class ExecutionPlan:
    """Execution plan: an optimized graph and the code of this graph."""

    graph: Graph
    code: PlanCode = field(default_factory=PlanCode)


@dataclass(frozen=True)
class GraphExecutorState:
    """Executed graph and execution plans of a function."""

    graph: Graph
    execution_plans: dict[str, ExecutionPlan]
    fallback: ExecutionPlan


def debug_state(function: ScriptFunction) -> GraphExecutorState:
    """Return the debug state of a function."""
    graph = executed_graph(function)
    plan = ExecutionPlan(graph)
    return GraphExecutorState(graph, {str(function.schema): plan}, plan)
