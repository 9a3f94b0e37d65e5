"""PassManager: runs passes in an order that satisfies constraints, until nothing changes.

This example runs two passes at most three times, `fold` before `fuse`:

    manager = PassManager([fold, fuse], [this_before_that_pass_constraint(fold, fuse)], steps=3)
    manager(module).modified
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ts.fx.graph_module import GraphModule
from ts.fx.passes.infra.pass_base import PassResult
from ts.nn.modules.module import Module
from ts.unsupported import names_for

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def pass_result_wrapper(fn: Any) -> Any:
    """Return a function that runs the pass `fn` and returns a PassResult.

    `fn` may return a PassResult or a new module, or change the given module in place and return None.
    """
    if fn is None:
        return None

    @functools.wraps(fn)
    def wrapped_fn(gm: Module) -> PassResult | None:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        return PassResult(result, True) if isinstance(result, Module) else None

    if not inspect.isfunction(fn):
        wrapped_fn.__name__ = type(fn).__name__
    return wrapped_fn


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """Return the constraint that the pass `this` runs before the pass `that`.

    The constraint is a function of two passes (a, b), where a runs before b. It returns False only if a is
    `that` and b is `this`.
    """
    return lambda a, b: a != that or b != this


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index "
                    f"{i} and {b} at index {j} in pass list."
                )


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """Return the passes in an order that satisfies the constraints. Raise RuntimeError if there is none."""
    if not constraints:
        return passes
    behind: dict[Pass, list[Pass]] = {p: [] for p in passes}
    waiting = dict.fromkeys(passes, 0)
    for a in passes:
        for b in passes:
            for _ in [c for c in constraints if a != b and not c(a, b)]:
                behind[b].append(a)
                waiting[a] += 1
    ready = [p for p in passes if not waiting[p]]
    for p in ready:  # the loop body appends to `ready`
        for each in behind[p]:
            waiting[each] -= 1
            if not waiting[each]:
                ready.append(each)
    circle = [p for p in passes if waiting[p]]
    if circle:
        raise RuntimeError(f"Circular dependency detected within the following passes: {circle}")
    return ready


def _name(fn: Any) -> str:
    return str(fn.__name__ if inspect.isfunction(fn) else type(fn).__name__)


class PassManager:
    """Sequence of passes, with constraints on their order.

    constraints                  functions (a, b) that return True if pass a may run before pass b
    steps                        maximum number of rounds. A round without changes is the last one
    run_checks_after_each_pass   call `check` after each pass
    """

    _validated = False
    steps = 1

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        if steps:
            self.steps = steps
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def add_pass(self, _pass: Pass) -> None:
        """Add a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Raise RuntimeError if the order of the passes violates a constraint."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Sort the passes so that all constraints are satisfied."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Set the function that checks a module before the first pass, and optionally after each pass."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Module) -> None:
        """Check a module. The default does nothing, and `add_checks` replaces this method."""

    def __call__(self, module: Module) -> PassResult:
        """Run the passes in order, up to `steps` times, until none of them changes the module."""
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            changed_now = False
            for i, fn in enumerate(self.passes):
                try:
                    result = self._run(fn, module)
                except Exception as error:
                    before = [_name(p) for p in self.passes[:i]]
                    raise Exception(
                        f"An error occurred when running the '{_name(fn)}' pass after the following "
                        f"passes: {before}"
                    ) from error
                module, changed_now = result.graph_module, changed_now or result.modified
            changed = changed or changed_now
            if not changed_now:
                break
        return PassResult(module, changed)

    def _run(self, fn: Pass, module: Module) -> PassResult:
        result: PassResult = fn(module)
        if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
            raise TypeError(
                f"The result of the pass {_name(fn)} should be type PassResult."
                "Please wrap it with pass_result_wrapper()"
            )
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self.check(result.graph_module)
        return result


__getattr__ = names_for(__name__)
