"""What runs as one in a function, and what does not, and why: `fn.plan`, for a person to read.

    plan of f
      mul add tanh sigmoid mul mul sub
        float32, float32, float (number): 12 runs as one
        complex64, float32, float (number): one by one, as aten::mul has no loop for that dtype
        2 calls one by one: shapes or layouts
      loops become machine code once they are hot
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ts.bytecode.native.exits import NO_LOOP
from ts.bytecode.native.worker import available, why
from ts.fusion.program import ARGUMENT, GroupRecord


class PlanText(str):
    """A text whose `repr` is the text itself."""

    def __repr__(self) -> str:
        return str(self)


def plan_of(code: Any, name: str) -> PlanText:
    """The groups of a code, and on what inputs each has run."""
    lines = [line for operator in code.operators for line in _group_lines(operator)]
    return PlanText("\n".join([f"plan of {name}", *(lines or ["  nothing runs as one"]), *_loop_lines(code)]))


def _loop_lines(code: Any) -> Iterator[str]:
    reason = why(code)
    if reason == NO_LOOP:
        return
    if not available():
        yield "  loops are interpreted: llvmlite is not installed (the extra `native`)"
    elif reason:
        yield f"  loops are interpreted: {reason}"
    else:
        yield "  loops become machine code once they are hot"


def _group_lines(operator: Any) -> Iterator[str]:
    record = operator.record
    if not isinstance(record, GroupRecord) or record.program is None:
        return
    program, group = record.program, record.group
    heads = dict.fromkeys(head.operator for head in program.heads)
    operators = [*heads, *(row.operator for row in (*program.rows, *program.ends))]
    yield "  " + " ".join(operator.name.partition("::")[2] for operator in operators)
    if group is None and not record.elsewhere:
        yield "    has not run yet"
    for other in filter(None, record.elsewhere.values()):
        for plan in other.plans:
            yield _plan_line(plan, [f"on {other.device}: {plan.inputs[0]}", *plan.inputs[1:]])
            for value, reason in plan.left.items():
                end = program.ends[value - len(program.inputs) - len(program.rows)]
                yield f"      {end.operator.name.partition('::')[2]} by itself, as {reason}"
        if other.left:
            yield f"    {other.left} calls on {other.device} one by one: devices, numbers, replaced operators"
    if group is None:
        return
    for plan in group.plans:
        names = zip(plan.inputs(len(program.inputs)), program.inputs, strict=True)
        yield _plan_line(plan, [name for name, kind in names if kind != ARGUMENT])
    for count, reason in (
        (group.left_to_limits, "limits count every operator"),
        (group.left_for_inputs, "devices, dtypes or numbers"),
        (group.left_for_shapes, "shapes or layouts"),
    ):
        if count:
            yield f"    {count} calls one by one: {reason}"


def _plan_line(plan: Any, inputs: list[str]) -> str:
    ending = f"one by one, as {plan.refused}" if plan.refused else f"{plan.runs} runs as one"
    return f"    {', '.join(inputs)}: {ending}"
