"""Optimization report of a function (`fn.plan`): fusion groups, and why other nodes are not fused.

The example is a report with one fusion group, one other node and two loops:

    plan of f
      fused mul_add_tanh (lines 3 to 4)
        x float32, y float32, 2 (number): ran fused 12 times
        x complex64, y float32, 2 (number): not fused, as aten::mul has no loop for that dtype
        2 calls not fused: shapes or layouts
      not in a fusion group
        it is not a pointwise operator on tensors: mm (line 5)
      moved out of loops: t (line 5)
      loops become machine code once they are hot (line 7)
      the loop in line 9 is interpreted: it prints (line 10)

Executions are counted at run time. Reasons are computed by running the passes again on a copy of the graph.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ts._core.dispatch.profiler_recorder import Recorder
from ts._core.value.spec import KINDS
from ts._core.vm.function import is_optimizing
from ts.bytecode.native.background_compilation import is_available, is_compiling, is_enabled, rejection_reason
from ts.bytecode.native.side_exits import (
    REASON_NO_LOOP,
    REASON_STOP_POINTS,
    REASON_TOO_LARGE,
    Loop,
    find_loops,
)
from ts.bytecode.subgraph_functions import SubgraphFunction
from ts.fusion.fusion_rules import CALLS, program_of_graph
from ts.fusion.program import ARGUMENT, KIND, FusionGroupRecord
from ts.ir.graph import Graph, Node, Value
from ts.ir.source import SourceRange, in_program
from ts.passes.graph_fuser import fuse_fallback, fuse_graph
from ts.passes.pipelines import BEFORE_SPECIALIZING, OPTIMIZE, run_pass
from ts.runtime.deep_recursion import run_with_large_stack
from ts.runtime.executor_graph import match_groups
from ts.runtime.graph_variants import copy_unoptimized
from ts.runtime.specialization import MAX_SPECIALIZATIONS, specializer_of

_MAX_LISTED_LINES: Final = 5  # a message about more lines states only their range
_TENSOR: Final = KINDS["TensorType"]
_PACKAGE_FOLDER: Final = f"{Path(__file__).parents[1]}{os.sep}"
_ELEMENTS: Final = frozenset({"prim::LoadElement", "prim::StoreElement"})


class ReportText(str):
    """String whose `repr` has no quotes, for display in a Python session."""

    def __repr__(self) -> str:
        return str(self)


def format_plan_report(function: Any, name: str) -> ReportText:
    """Return the report of a scripted function: fusion groups with their inputs, and other nodes."""
    tier = [*_tier_lines(function)]  # read before `_code_of`, which optimizes the function
    code = _code_of(function)
    if not is_optimizing():
        lines = iter(["  nothing is fused: `optimized_execution(False)` is active"])
    elif function.holds_breakpoint:
        lines = iter(["  nothing is fused: it calls `breakpoint()`, which can stop at any line"])
    else:
        lines = _report_lines(function, code)
    more = [*tier, *_loop_lines(code), *_tape_lines(function), *_memory_lines(function)]
    return ReportText("\n".join([f"plan of {name}", *lines, *more]))


def _tier_lines(function: Any) -> Iterator[str]:
    """Yield a line about the baseline calls of a function that is not optimized yet."""
    tier, calls, nanoseconds = function.tier_state
    if tier == "baseline":
        time = f"{nanoseconds / 1e6:.1f} ms"
        yield f"  number of calls so far that ran baseline code: {calls} ({time}); later calls run this plan"


def _tape_lines(function: Any) -> Iterator[str]:
    """Yield a line about differentiable graphs if a call of the function recorded gradients."""
    differentiated = getattr(function, "_differentiated", None)
    if differentiated is not None and differentiated.available_code is not None:
        yield "  gradients were recorded: it ran as differentiable graphs, which `graph_for` shows"


def peak_of_call(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """Return the peak memory of a call in bytes, measured in the second of two calls of `function`."""
    function(*args, **kwargs)
    recorder = Recorder(memory=True)
    recorder.start()
    try:
        result = function(*args, **kwargs)
    finally:
        recorder.stop()
    del result
    return recorder.peak_bytes


def _memory_lines(function: Any) -> Iterator[str]:
    if function.peak is not None:
        yield f"  peak memory of the last measured call: {function.peak:,} bytes, without its arguments"


def _code_of(function: Any) -> Any:
    """Return the code whose loops the report lists.

    It is the first specialization if there is one, else the general code.
    """
    if not is_optimizing():
        return function.compiled_code
    plans = _specializations_of(function)
    if plans is None:
        return function.compiled_code
    return (
        next((code for code, _ in plans.specialized_codes if code is not None), None) or plans.code_for_all()
    )


def _specializations_of(function: Any) -> Any:
    if function.available_code is None:
        function.compiled_code  # noqa: B018 -- access creates the code
    return function.plans


def _report_lines(function: Any, code: Any) -> Iterator[str]:
    """Yield the report lines of all specializations, or of the general code."""
    plans = _specializations_of(function)
    if plans is None:
        graph = copy_unoptimized(function.as_compiled())
        yield from _code_lines(code, run_with_large_stack(partial(_run_passes, graph)))
        if any(spec.kind == _TENSOR for _, spec, *_ in function.arguments):
            yield "  one version of the code for all arguments: no branch depends on them"
        return
    specializer = specializer_of(plans)
    names = [name for name, *_ in function.arguments]
    tested = ", ".join(names[i] for i in plans.registers)
    count = _format_count(len(plans.specialized_codes), "plan")
    yield f"  specialised by {tested}: {count}, at most {MAX_SPECIALIZATIONS}"
    general = []
    for (plan, runs), kind in zip(plans.specialized_codes, specializer.kinds, strict=True):
        if plan is None:
            general.append(kind.describe(names))
            continue
        yield f"  specialised to ({kind.describe(names)}): ran {_format_count(runs, 'time')}"
        graph, decided = specializer.base_graph_for(kind)
        if decided:
            yield f"    decided: {_format_nodes(decided)}"
        result = run_with_large_stack(partial(_run_passes, graph, is_begun=True))
        yield from (f"  {line}" for line in _code_lines(plan, result))
    if plans.general_code is not None:
        yield f"  general code, for arguments without a plan: ran {_format_count(plans.left, 'time')}"
        for kind_text in general:
            yield f"    ({kind_text}): no branch depends on them"
        graph = specializer.base_graph_for(None)[0]
        result = run_with_large_stack(partial(_run_passes, graph, is_begun=True))
        yield from (f"  {line}" for line in _code_lines(plans.general_code, result))


def _format_count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _code_lines(code: Any, result: tuple[Graph, _UngroupedNodes]) -> Iterator[str]:
    graph, ungrouped = result
    records = [
        op.record for op in code.operators if isinstance(op.record, FusionGroupRecord) and op.record.program
    ]
    if not records:
        yield "  nothing is fused"
    for record, group in _match_groups(records, graph):
        yield from _group_lines(record, group)
    yield from _ungrouped_lines(ungrouped.rejected)
    if ungrouped.moved:
        yield f"  moved out of loops: {_format_nodes(ungrouped.moved)}"
    elements = [node for node in graph.all_nodes() if node.kind() in _ELEMENTS]
    if elements:
        yield f"  direct accesses to tensor elements:{_format_lines(elements)}"
    for callee in code.functions:
        if isinstance(callee, SubgraphFunction) and callee.available_code is not None:
            result = run_with_large_stack(partial(_run_passes, copy_unoptimized(callee.graph)))
            yield "  in a forked task"
            yield from (f"  {line}" for line in _code_lines(callee.available_code, result))


# ---- nodes that the passes fused or rejected ---------------------------------------------------------


class _UngroupedNodes(NamedTuple):
    """Nodes outside of fusion groups, each with the reason, and nodes that were moved out of loops."""

    rejected: dict[Node, str]
    moved: dict[Node, None]


def _run_passes(graph: Graph, is_begun: bool = False) -> tuple[Graph, _UngroupedNodes]:
    """Run the passes on a graph. Return the graph, and for each node that is not fused the reason.

    `is_begun` is True if the passes before the specialization have run already.
    """
    ungrouped = _UngroupedNodes({}, {})

    def fuse(graph: Graph) -> bool:
        return fuse_graph(graph, ungrouped.rejected)

    for run in OPTIMIZE[len(BEFORE_SPECIALIZING) if is_begun else 0 :]:
        if run is fuse_graph:
            run_pass(graph, fuse)
        else:
            owning_blocks = {
                node: node.owning_block() for node in graph.all_nodes() if _computes_tensors(node)
            }
            run_pass(graph, run)
            moved = (
                n for n, block in owning_blocks.items() if n.in_block() and n.owning_block() is not block
            )
            ungrouped.moved.update(dict.fromkeys(moved))
    return graph, ungrouped


def _computes_tensors(node: Node) -> bool:
    """Return True if a node is an operator or call that returns tensors."""
    kind = node.kind()
    named = kind in CALLS or not kind.startswith("prim::")
    return named and any("Tensor" in value.type().str() for value in node.outputs())


class _Group(NamedTuple):
    """Nodes of a fusion group in the graph, and the names of its inputs."""

    nodes: list[Node]
    names: list[str]


def _match_groups(records: list[Any], graph: Graph) -> Iterator[tuple[Any, _Group | None]]:
    """Yield pairs of a fusion group's record and the group in `graph` with the same program, or None.

    If a group cannot run as one kernel, it is divided into parts. Parts that have not run are omitted.
    """
    nodes = graph.find_all_nodes(KIND)
    parts = [part for node in nodes for part in fuse_fallback(node["Subgraph"]).find_all_nodes(KIND)]
    for record, node in match_groups(records, [*nodes, *parts]):
        if node in parts and record.group is None and not record.groups_by_backend:
            continue
        if node is None:
            yield record, None
            continue
        subgraph = node["Subgraph"]
        outside = dict(zip(subgraph.inputs(), node.inputs(), strict=True))
        names = [_name(outside.get(value, value)) for value in program_of_graph(subgraph)[1]]
        yield record, _Group(list(subgraph.nodes()), names)


def _name(value: Value) -> str:
    """Return the name of a value as in the source, without the suffix that makes graph names unique."""
    if value.has_debug_name():
        name, _, suffix = value.debug_name().rpartition(".")
        return name if name and suffix.isdecimal() else value.debug_name()
    node = value.node()
    if node.kind() == "prim::unchecked_cast":
        return _name(node.input())
    return str(node.get("value")) if node.kind() == "prim::Constant" else _short(node.kind())


def _short(name: str) -> str:
    return name.partition("::")[2]


# ---- lines of the report -----------------------------------------------------------------------------


def _group_lines(record: Any, group: _Group | None) -> Iterator[str]:
    program, on_cpu = record.program, record.group
    names = group.names if group else [""] * len(program.inputs)
    yield f"  fused {program.name}{_format_lines(group.nodes) if group else ''}"
    if on_cpu is None and not record.groups_by_backend:
        yield "    has not run yet"
    for other in filter(None, record.groups_by_backend.values()):
        for plan in other.plans:
            yield _report_line(plan, [f"on {other.device}: {plan.inputs[0]}", *plan.inputs[1:]])
            for value, reason in plan.unfused.items():
                end = program.epilogues[value - len(program.inputs) - len(program.operations)]
                yield f"      {_short(end.operator.name)} separately, as {reason}"
        if other.unfused_calls:
            count = other.unfused_calls
            yield f"    {count} calls on {other.device} not fused: devices, numbers, replaced operators"
    if on_cpu is None:
        return
    for plan in on_cpu.plans:
        inputs = zip(names, plan.inputs(len(names)), program.inputs, strict=True)
        yield _report_line(plan, [f"{name} {kind}".strip() for name, kind, x in inputs if x != ARGUMENT])
    for count, reason in (
        (on_cpu.left_to_limits, "limits count every operator"),
        (on_cpu.left_for_inputs, "devices, dtypes or numbers"),
        (on_cpu.left_for_shapes, "shapes or layouts"),
    ):
        if count:
            yield f"    {count} {'call' if count == 1 else 'calls'} not fused: {reason}"


def _report_line(plan: Any, inputs: list[str]) -> str:
    times = "time" if plan.runs == 1 else "times"
    reason = plan.unsupported_reason
    ending = f"not fused, as {reason}" if reason else f"ran fused {plan.runs} {times}"
    return f"    {', '.join(inputs)}: {ending}"


def _ungrouped_lines(rejected: dict[Node, str]) -> Iterator[str]:
    """Yield lines that list the operators outside of groups, by reason."""
    listed = (node for node in rejected if node.in_block() and _computes_tensors(node))
    by_reason = _group_by(rejected.__getitem__, listed)
    if by_reason:
        yield "  not in a fusion group"
    for reason, nodes in by_reason.items():
        yield f"    {reason}: {_format_nodes(nodes)}"


def _format_nodes(nodes: Iterable[Node]) -> str:
    """Return the names of operators with their lines. Each name occurs once."""
    by_name = _group_by(lambda node: _short(node.kind()), nodes)
    return ", ".join(f"{name}{_format_lines(each)}" for name, each in by_name.items())


def _group_by(key: Callable[[Node], Any], nodes: Iterable[Node]) -> dict[Any, list[Node]]:
    grouped: dict[Any, list[Node]] = {}
    for node in nodes:
        grouped.setdefault(key(node), []).append(node)
    return grouped


def _format_lines(nodes: Iterable[Node]) -> str:
    """Return the source lines of nodes. An inlined node has the line of the call."""
    computing = (node for node in nodes if node.kind() != "prim::Constant")
    ranges = (_find_user_range([*(at for _, at in node.callstack), node.range]) for node in computing)
    return _format_line_numbers(range.line for range in ranges if range is not None)


def _find_user_range(ranges: Iterable[SourceRange | None]) -> SourceRange | None:
    """Return the first source range of a call stack, outermost call first, that is outside of `ts`."""
    user_ranges = (in_program(at) for at in ranges if at is not None)
    return next(
        (at for at in user_ranges if at and not (at.source.filename or "").startswith(_PACKAGE_FOLDER)), None
    )


def _format_line_numbers(numbers: Iterable[int]) -> str:
    lines = sorted(set(numbers))
    if not lines:
        return ""
    if len(lines) > _MAX_LISTED_LINES or (len(lines) > 2 and lines[-1] - lines[0] == len(lines) - 1):
        return f" (lines {lines[0]} to {lines[-1]})"
    return f" ({'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines))})"


def _loop_lines(code: Any) -> Iterator[str]:
    reason = rejection_reason(code)
    if reason == REASON_NO_LOOP:
        return
    if not is_enabled and code.machine_code is None:
        yield "  loops are interpreted: TS_NATIVE=0 forbids machine code"
    elif not is_available():
        yield "  loops are interpreted: llvmlite is not installed (the extra `native`)"
    elif reason in (REASON_TOO_LARGE, REASON_STOP_POINTS):
        yield f"  loops are interpreted: {reason}"
    else:
        yield from _loop_states(code, find_loops(code))


def _loop_states(code: Any, loops: Iterable[Loop]) -> Iterator[str]:
    """Yield the state of each loop, and for interpreted loops the reason."""
    left = [loop for loop in loops if loop.reason]
    entered = [loop.end for loop in loops if not loop.reason]
    own = set(_lines_at(code, [end for end in entered if _is_in_line(code, end)]))
    called = set(_lines_at(code, entered)) - own
    if entered:
        if code.machine_code is not None:
            when = "are machine code"
        elif is_compiling(code):
            when = "are being compiled to machine code"
        else:
            when = "become machine code once they are hot"
        own_lines = _format_line_numbers(own) if left or called else ""
        yield f"  loops {when}{own_lines}{_format_call_lines(called)}"
    for loop in left:
        line = next(_lines_at(code, [loop.end]), None)
        if line is None:
            named = "a loop"
        elif not _is_in_line(code, loop.end):
            named = f"a loop in a function called in line {line}"
        else:
            # A loop in the source may be two loops in the graph: a version that computes with numbers instead
            # of tensor elements, and the original.
            named = f"{'a version of ' if line in own else ''}the loop in line {line}"
        cause = _format_line_numbers(_lines_at(code, [loop.cause])) if loop.cause >= 0 else ""
        yield f"  {named} is interpreted: {loop.reason}{cause}"


def _format_call_lines(lines: set[int]) -> str:
    """Return text with the line numbers of calls whose inlined functions contain loops, or ""."""
    return f" (in functions called{_format_line_numbers(lines).replace(' (', ' in ')}" if lines else ""


def _is_in_line(code: Any, at: int) -> bool:
    """Return True if an instruction is from a line of the function itself, not from an inlined callee."""
    stack = code.lines[at] if code.lines else None
    return not stack or stack[-1][1] == _find_user_range(source_range for _, source_range in stack)


def _lines_at(code: Any, instructions: Iterable[int]) -> Iterator[int]:
    """Yield the source lines of instructions. Inlined instructions have the line of the call."""
    for at in instructions:
        user_range = (
            _find_user_range(source_range for _, source_range in code.lines[at])
            if code.lines and code.lines[at]
            else None
        )
        if user_range is not None:
            yield user_range.line
