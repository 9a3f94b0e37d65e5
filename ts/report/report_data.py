"""Data of the report on a function: the functions that it calls, their source lines and times.

`collect` measures a function or method with given arguments. It returns a `ReportData` with this content:

    call                   seconds of a call without profiler (minimum of several calls)
    functions              the function, then all functions that it calls
      lines                source lines, with seconds and execution count
      graph                lines of text, linked to source lines
      picture              SVG drawing, omitted for large graphs
    modules                of a method: the module tree, with the functions of each module
    operators              sorted by time, with their kernels

Times of operators are measured in a profiled call. The time of a fusion group is divided equally among the
lines of its operators. The other time of an unprofiled call is interpreter time. It is divided among the
lines in proportion to the number of instructions. All times are scaled so that their sum is the time of the
unprofiled call.
"""

from __future__ import annotations

import copy
import time
from collections import Counter as Bag
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ts._core.dispatch.operator import Operator
from ts._core.dispatch.profiler_recorder import Event, Recorder
from ts._core.thread.context import GradMode
from ts.bytecode.instruction_counter import InstructionCounter
from ts.bytecode.opcodes import NUMBER
from ts.errors import LimitExceeded
from ts.fusion.program import FusionGroupRecord
from ts.ir.graph import Graph, Node
from ts.ir.graph_printer import to_lines
from ts.ir.source import SourceRange
from ts.ir.visualization import arrange, build_diagram, svg
from ts.passes.inline import called_function
from ts.profiler.averages import EventList
from ts.profiler.events import FunctionEvent, function_events
from ts.runtime.executor import executed_graph
from ts.runtime.function import ScriptFunction
from ts.runtime.instruction_counting import CountedFunction
from ts.runtime.limits import limits
from ts.runtime.module import ScriptModule, method_names
from ts.runtime.script_method import ScriptMethod

SourceLocation = tuple[str, int]  # file name (or source text without a file) and line number
_MAX_DRAWN_NODES: Final = 2_000  # maximum number of nodes of a drawing
# total time after which a measurement ends. It makes at least three calls of the function even if they take
# longer
_MAX_MEASURING_SECONDS: Final = 0.5
_MAX_CALLS: Final = 200
_MIN_INSTRUCTION_SECONDS: Final = 2e-9
_COUNTING_TIMEOUT_SECONDS: Final = 10.0  # counting makes a program about 100 times slower


@dataclass
class Line:
    """Source line. Times are in seconds per call of the complete function."""

    number: int
    text: str
    seconds: float = 0.0  # seconds of the operators that the line calls
    below: float = 0.0  # seconds of inlined functions that the line calls
    times: int = 0  # number of executions
    is_grouped: bool = False  # True if operators of the line ran in a fusion group


@dataclass
class TextLine:
    """Section of a graph text: one line, or all lines with the inputs of the graph."""

    text: str
    line_id: tuple[int, int] | None = None  # function number and line number


@dataclass
class FunctionReport:
    """Report on one function: source lines, graph and drawing."""

    name: str
    file: str
    lines: list[Line]
    graph: list[TextLine] = field(default_factory=list)
    picture: str = ""

    @property
    def seconds(self) -> float:
        """Total seconds of the lines of the function."""
        return sum(line.seconds for line in self.lines)


@dataclass
class Module:
    """Module of a model: attribute name, class, parameter count, methods and children."""

    name: str
    kind: str
    parameters: int  # number of elements of all parameters, including those of submodules
    functions: list[int]  # function numbers of the methods
    children: list[Module]


@dataclass
class EventGroup:
    """Profiler events with the same name."""

    name: str
    kernel: str
    times: int
    seconds: float


@dataclass
class ReportData:
    """Contents of a report on a function or method."""

    name: str
    functions: list[FunctionReport]
    plan: str
    optimised: list[TextLine]
    bytecode: str
    modules: Module | None = None
    call: float | None = None  # seconds of a call, or None if not measured
    between: float = 0.0  # seconds of `call` that are not in operators
    # True if executed instructions were counted. The times of lines then include shares of `between`
    is_counted: bool = False
    operators: list[EventGroup] = field(default_factory=list)


def collect(
    function: ScriptFunction | ScriptMethod,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> ReportData:
    """Return the report on a function.

    If `args` is not None, the function is called and the report contains times.
    """
    script = function.function if isinstance(function, ScriptMethod) else function
    functions = _FunctionTable(script)
    measured = None
    # Measure before the report is built, because it shows the fusion groups that the measured calls have
    # executed.
    if args is not None:
        receiver = (function.owner._object,) if isinstance(function, ScriptMethod) else ()
        measured = _Measurements(script, receiver, tuple(args), dict(kwargs or {}))
    report = ReportData(
        script.qualified_name.removeprefix("__torch__."),
        functions.reports,
        script.plan,
        functions.text_lines(executed_graph(script)),
        script.bytecode,
    )
    if isinstance(function, ScriptMethod):
        report.modules = _module("", function.owner, functions.numbers)
    if measured is not None:
        measured.write_times(report, functions.lines)
    return report


# ---- functions and their lines -----------------------------------------------------------------------


class _FunctionTable:
    """Functions that a function can reach by calls, with the function itself first."""

    def __init__(self, root: ScriptFunction) -> None:
        self.numbers: dict[Any, int] = {}  # function -> its number, the index of its report
        self.reports: list[FunctionReport] = []
        self.lines: dict[SourceLocation, Line] = {}
        self._line_ids: dict[SourceLocation, tuple[int, int]] = {}
        waiting = [root]
        for function in waiting:
            if function not in self.numbers:
                self.numbers[function] = len(self.reports)
                self.reports.append(self._function_report(function))
                waiting += _callees(function.graph)
        # All functions must have numbers before a graph is formatted, because graph texts contain the numbers
        # of functions.
        for function, index in self.numbers.items():
            self.reports[index].graph = self.text_lines(function.graph)
            self.reports[index].picture = self.picture(function.graph)

    def _function_report(self, function: ScriptFunction) -> FunctionReport:
        name = function.qualified_name.removeprefix("__torch__.")
        parsed = function.definition()
        if parsed is None:  # the function was created from a graph: use the graph text as source
            lines = [Line(line_number, row) for line_number, row in enumerate(function.code.splitlines(), 1)]
            return FunctionReport(name, "", lines)
        source, first, last = parsed.source, parsed.node.lineno, parsed.node.end_lineno
        rows = source.text.split("\n")[first - 1 : last]
        indent = min((len(row) - len(row.lstrip()) for row in rows if row.strip()), default=0)
        lines = []
        for line_number, row in enumerate(rows, source.first_line + first - 1):
            line_id = source.filename or source.text, line_number
            line = self.lines.setdefault(line_id, Line(line_number, row[indent:].rstrip()))
            self._line_ids.setdefault(line_id, (len(self.reports), line_number))
            lines.append(line)
        return FunctionReport(name, source.filename or "", lines)

    def text_lines(self, graph: Graph) -> list[TextLine]:
        """Return the lines of the text of a graph, linked to the source lines of the nodes."""
        return [
            TextLine(
                rendered.rstrip("\n"), None if node is None else self._line_ids.get(_location(node.range))
            )
            for rendered, node in to_lines(graph, show_ranges=False)
        ]

    def picture(self, graph: Graph) -> str:
        """Return an SVG drawing of a graph whose boxes link to source lines, or "" for a large graph."""
        if sum(1 for _ in graph.all_nodes()) > _MAX_DRAWN_NODES:
            return ""
        diagram = build_diagram(graph)
        arrange(diagram)
        return svg(diagram, style="", attributes=self._line_attribute)

    def _line_attribute(self, node: Node) -> str:
        line_id = self._line_ids.get(_location(node.range))
        return "" if line_id is None else f' data-at="{line_id[0]}:{line_id[1]}"'


def _callees(graph: Graph) -> Iterator[Any]:
    for kind in ("prim::CallFunction", "prim::CallMethod"):
        for call in graph.find_all_nodes(kind):
            callee = called_function(call)
            if isinstance(callee, ScriptFunction):
                yield callee


def _location(range: SourceRange | None) -> SourceLocation:
    return ("", 0) if range is None else (range.source.filename or range.source.text, range.line)


def _module(name: str, module: ScriptModule, numbers: Mapping[Any, int]) -> Module:
    methods = [getattr(module, method_name) for method_name in method_names(module)]
    functions = [
        numbers[method.function] for method in methods if getattr(method, "function", None) in numbers
    ]
    count = sum(parameter.numel() for parameter in module.parameters())
    named_children: list[tuple[str, Any]] = list(module.named_children())
    children = [_module(child_name, child, numbers) for child_name, child in named_children]
    kind = str(getattr(module, "original_name", type(module).__name__))
    return Module(name, kind, count, functions, children)


# ---- timings -----------------------------------------------------------------------------------------


class _Measurements:
    """Timed calls of a function: plain calls, profiled calls, and calls that count instructions."""

    def __init__(
        self,
        function: ScriptFunction,
        receiver: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self._receiver = receiver
        self._arguments = args, kwargs
        self._measure_seconds(function)  # compiles the function, so the time of this call is not used
        durations = [self._measure_seconds(function)]
        while len(durations) < 3 or (sum(durations) < _MAX_MEASURING_SECONDS and len(durations) < _MAX_CALLS):
            durations.append(self._measure_seconds(function))
        self.call = min(durations)
        self.events = min((self._profile(function) for _ in range(3)), key=_total)
        self.instructions, self.times = self._count_instructions(function)

    def _measure_seconds(self, function: Any) -> float:
        args, kwargs = copy.deepcopy(self._arguments)  # the call may modify the arguments
        with GradMode(False):
            start = time.perf_counter()
            function(*self._receiver, *args, **kwargs)
            return time.perf_counter() - start

    def _profile(self, function: ScriptFunction) -> list[tuple[Event, FunctionEvent]]:
        recorder = Recorder()
        recorder.start()
        try:
            self._measure_seconds(function)
        finally:
            recorder.stop()
        return list(zip(recorder.events, function_events(recorder.events, 0), strict=True))

    def _count_instructions(
        self, function: ScriptFunction
    ) -> tuple[Bag[SourceLocation], Bag[SourceLocation]]:
        """Count the executed instructions and the executions of each line.

        If a call exceeds the time limit, return empty counts.
        """
        counter = InstructionCounter()
        instructions: Bag[SourceLocation] = Bag()
        times: Bag[SourceLocation] = Bag()
        try:
            with limits(seconds=_COUNTING_TIMEOUT_SECONDS):
                self._measure_seconds(CountedFunction(function, counter))
        except LimitExceeded:
            return instructions, times
        for program in counter.programs():
            for stack, count in zip(program.lines, counter.counts_of(program), strict=False):
                if stack:
                    line_id = _location(stack[-1][1])
                    instructions[line_id] += count
                    times[line_id] = max(times[line_id], count)
        return instructions, times

    def write_times(self, report: ReportData, lines: Mapping[SourceLocation, Line]) -> None:
        """Write the measured times into the report."""
        report.call = self.call
        called_events = [pair for pair in self.events if _is_called_for(*pair)]
        operators = sum(event.cpu_time_total for _, event in called_events) / 1e6
        instruction_count = sum(self.instructions.values())
        between = max(self.call - operators, instruction_count * _MIN_INSTRUCTION_SECONDS)
        scale = self.call / (operators + between)  # < 1 if profiling made the operators slower
        own_seconds: dict[SourceLocation, float] = defaultdict(float)
        callee_seconds: dict[SourceLocation, float] = defaultdict(float)
        grouped: set[SourceLocation] = set()
        for raw_event, event in called_events:
            stacks = _stacks(raw_event)
            for stack in stacks:
                share = event.cpu_time_total / 1e6 * scale / len(stacks)
                locations = [_location(range) for _, range in stack if range is not None]
                own_seconds[locations[-1]] += share
                for line_id in {*locations[:-1]} - {locations[-1]}:
                    callee_seconds[line_id] += share
                if _is_group(raw_event.what):
                    grouped.add(locations[-1])
        report.between = between * scale
        report.is_counted = instruction_count > 0
        for line_id, count in self.instructions.items():
            own_seconds[line_id] += report.between * count / instruction_count
        for line_id, line in lines.items():
            line.seconds, line.below, line.times = (
                own_seconds[line_id],
                callee_seconds[line_id],
                self.times[line_id],
            )
            line.is_grouped = line_id in grouped
        averages = EventList(
            event for raw_event, event in self.events if raw_event.kind == "operator"
        ).key_averages()
        groups = [EventGroup(a.key, a.kernel, a.count, a.self_cpu_time_total / 1e6 * scale) for a in averages]
        report.operators = sorted(groups, key=lambda group: -group.seconds)


def _total(pairs: Sequence[tuple[Event, FunctionEvent]]) -> float:
    return sum(event.cpu_time_total for raw_event, event in pairs if _is_called_for(raw_event, event))


def _is_called_for(raw_event: Event, event: FunctionEvent) -> bool:
    """Return True if a bytecode instruction called the operator, and False if another operator did."""
    enclosing = event.cpu_parent
    while enclosing is not None and enclosing.kind != "operator":
        enclosing = enclosing.cpu_parent
    return (
        raw_event.kind == "operator"
        and raw_event.code is not None
        and enclosing is None
        and bool(_stacks(raw_event))
    )


def _is_group(operator: object) -> bool:
    return isinstance(operator, Operator) and isinstance(operator.record, FusionGroupRecord)


def _stacks(raw_event: Event) -> list[Any]:
    """Return the call stacks of an operator event. A fusion group has one stack per fused operator."""
    code = raw_event.code
    index = code.number_at(raw_event.instruction)
    if not code.lines:
        return []
    stacks = [code.lines[index]]
    if _is_group(raw_event.what) and index + 1 < len(code.instructions):
        # The group's instruction is followed by a JUMP_IF, which skips the instructions of the operators that
        # the group replaces.
        opcode, target, *_ = code.instructions[index + 1]
        if opcode == NUMBER["JUMP_IF"] and target > index:
            called = [
                code.lines[instruction]
                for instruction in range(index + 2, target)
                if code.instructions[instruction][0] == NUMBER["CALL_OPERATOR"]
            ]
            stacks = called or stacks
    return [stack for stack in stacks if any(range is not None for _, range in stack)]
