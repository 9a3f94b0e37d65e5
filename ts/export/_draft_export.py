"""Draft export: export that continues after each failure and reports all failures at the end.

Example:

    program = draft_export(module, args, dynamic_shapes=...)
    print(program._report)

The export continues after these failures:

- A condition depends on tensor elements. The example arguments decide it, and the program asserts the result.
- The program contradicts the spec of a dimension. The spec becomes `Dim.AUTO`.
- A custom operator has no correct fake kernel. Its results become fake tensors with unbacked sizes.
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ts
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts.errors import ConstraintViolationError, UserError
from ts.export import sympy_functions
from ts.export.decision_policy import DecisionPolicy
from ts.export.dim import Dim, _Hint
from ts.export.fake import fake_array, fake_for, is_fake
from ts.export.program import ExportedProgram
from ts.export.shape_env import ShapeEnv
from ts.export.sym_node import symbol_of
from ts.export.sympy_import import sympy
from ts.export.tracer import ExportTracer
from ts.export.tracing import Export
from ts.export.user_frames import UserFrame, stack
from ts.fx.node import Node
from ts.nn.modules.module import Module
from ts.utils import _pytree as pytree


class FailureType(enum.Enum):
    """Kind of a draft-export failure."""

    MISSING_FAKE_KERNEL = enum.auto()
    DATA_DEPENDENT_ERROR = enum.auto()
    GUARD_ADDED = enum.auto()
    MISMATCHED_FAKE_KERNEL = enum.auto()

    def __str__(self) -> str:
        return self.name


_ADVICE = {
    FailureType.MISSING_FAKE_KERNEL: (
        "Missing fake kernel.\n    torch.ops.{op} is missing a fake kernel implementation.\n\n"
        "    Register a function that computes the results for tensors without elements: "
        "torch.library.register_fake."
    ),
    FailureType.MISMATCHED_FAKE_KERNEL: (
        "Mismatched fake kernel.\n    torch.ops.{op} has a fake kernel implementation, but it has incorrect "
        "behavior, based on the real kernel.\n    The reason for the mismatch is: {reason}."
    ),
    FailureType.DATA_DEPENDENT_ERROR: (
        "Data dependent error.\n    When exporting, we were unable to evaluate the value of `{expr}`.\n"
        "    This was encountered {occurrences} times.\n{stack}\n"
        "    As a result, it was specialized to a constant (e.g. `{result}` in the 1st occurrence), and "
        "asserts were inserted into the graph.\n\n"
        "    Please add `torch._check(...)` to the original code to assert this data-dependent assumption."
    ),
    FailureType.GUARD_ADDED: (
        "Guard Added.\n    A guard was added during tracing, which might've resulted in some incorrect\n"
        "    tracing or constraint violation error.\n    Specifically, this guard was added: {expr}, where "
        "{symbol_to_sources}.\n{stack}\n"
        "    Because of this, we have modified the dynamic shapes structure to be the\n    following. You "
        "can also use torch.export.Dim.AUTO instead to specify your\n    dynamic shapes, and we will "
        "automatically infer the dynamism for you.\n    ```\n    dynamic_shapes = {new_dynamic_shapes}\n"
        "    ```"
    ),
}


@dataclass
class FailureReport:
    """One failure of a draft export: its kind and details."""

    failure_type: FailureType
    data: dict[str, Any]

    def print(self, str_to_filename: Mapping[str, str] | None = None) -> str:
        """Format the failure with its user stack trace.

        `str_to_filename` is accepted for compatibility with PyTorch.
        """
        lines = "".join(
            f"        File {p.file}, lineno {p.line}, in {p.function}\n            {p.text}\n"
            for p in self.data.get("user_stack", ())
        )
        formatted_stack = f"    This occurred at the following user stacktrace: \n{lines}"
        return _ADVICE[self.failure_type].format(**(self.data | {"stack": formatted_stack}))


@dataclass
class DraftExportReport:
    """List of all failures of a draft export."""

    failures: list[FailureReport] = field(default_factory=list)

    def successful(self) -> bool:
        """Return True if no failure was recorded. In this case, `export` would return the same program."""
        return not self.failures

    def add(self, kind: FailureType, key: str, **data: Any) -> None:
        """Record a failure.

        If a failure of this kind with the same `data[key]` was recorded before, increment the occurrence
        count of that failure instead.
        """
        for failure in self.failures:
            if failure.failure_type is kind and failure.data[key] == data[key]:
                failure.data["occurrences"] += 1
                return
        self.failures.append(FailureReport(kind, data | {"occurrences": 1}))

    def __str__(self) -> str:
        if self.successful():
            return (
                "Congratulations: No issues are found during export, and it was able to soundly produce a "
                "graph.\nYou can now change back to torch.export.export()"
            )
        issues = "\n\n".join(f"{k}. {failure.print()}" for k, failure in enumerate(self.failures, 1))
        return (
            f"WARNING: {len(self.failures)} issue(s) found during export, and it was not able to soundly "
            f"produce a graph.\nPlease follow the instructions to fix the errors.\n\n{issues}\n"
        )


def draft_export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    preserve_module_call_signature: tuple[str, ...] = (),
    strict: bool = False,
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """Export `mod` for the example arguments. Errors that `export` would raise are collected in a report.

    The report is the attribute `_report` of the program. The program is correct for the example arguments.
    For other arguments, it asserts the conditions that the export assumed. Results may be wrong if an
    operator has an incorrect fake kernel.
    """
    report = DraftExportReport()
    options = (tuple(args), dict(kwargs or {}))
    try:
        program = _Draft(report, mod, *options, dynamic_shapes, preserve_module_call_signature).program()
    except (ConstraintViolationError, UserError):
        relaxed_shapes = _with_auto_dims(dynamic_shapes)
        if relaxed_shapes == dynamic_shapes:
            raise
        report.failures.clear()
        retry = _Draft(report, mod, *options, relaxed_shapes, preserve_module_call_signature)
        program = retry.program()
        retry.report_guards(relaxed_shapes)
    program._report = report
    if not report.successful():
        count = len(report.failures)
        warnings.warn(
            f"{count} issue(s) found during export, and it was not able to soundly produce a graph: "
            "print(program._report) tells them",
            stacklevel=2,
        )
    return program


def _with_auto_dims(shapes: Any) -> Any:
    """Return `shapes` with each `Dim` and `Dim.DYNAMIC` replaced by `Dim.AUTO`."""
    return pytree.tree_map(
        lambda x: Dim.AUTO if isinstance(x, Dim) or getattr(x, "kind", "") == "DYNAMIC" else x,
        shapes,
        is_leaf=lambda x: x is None or isinstance(x, Dim | _Hint),
    )


class _DraftPolicy(DecisionPolicy):
    """Policy of a draft export: the example also decides conditions on unbacked symbols.

    Each such decision is added to the report, and the graph asserts it at run time.
    """

    def __init__(self, report: DraftExportReport) -> None:
        self.report = report
        self.examples: dict[Any, Any] = {}
        self.outer = len(stack())  # number of user frames outside of the export

    def in_example(self, environment: ShapeEnv, expression: Any) -> Any:
        """Return the value that a sympy expression has for the example arguments.

        Raise KeyError if a symbol in the expression has no example value.
        """
        return sympy_functions.value(environment.simplify(expression), environment.hints | self.examples)

    def undetermined(self, environment: ShapeEnv, expression: Any, type_name: str = "") -> Any:
        try:
            value = self.in_example(environment, expression)
        except KeyError:
            return super().undetermined(environment, expression, type_name)
        self.report.add(
            FailureType.DATA_DEPENDENT_ERROR,
            "expr",
            expr=str(expression),
            result=str(value),
            user_stack=stack()[self.outer :],
        )
        if type_name:
            environment.require(sympy.Eq(expression, sympy_functions.to_sympy(value)))
            return value
        environment.require(expression if value else sympy.Not(expression))
        return bool(value)


class _DraftRecorder(ExportTracer):
    """Tracer that runs each operator on fake tensors, and on the real tensors of the example."""

    def __init__(self, policy: _DraftPolicy) -> None:
        super().__init__(ShapeEnv(policy))
        self.policy = policy
        # id of a fake tensor -> (the fake tensor, the real tensor that it stands for with the example
        # arguments)
        self._examples: dict[int, tuple[Tensor, Tensor]] = {}

    # ---- example values of fake tensors

    def example(self, fake_tensor: Tensor, real: Tensor) -> None:
        with self.paused(), ts.no_grad():
            self._store_example(fake_tensor, real.detach().clone())

    def _store_example(self, value: Tensor, real: Tensor) -> None:
        self._examples[id(value)] = value, real

    def record_alias(self, real: Tensor, fake_tensor: Tensor) -> None:
        super().record_alias(real, fake_tensor)
        self.example(fake_tensor, real)

    def fake_of(self, x: Tensor) -> Tensor:
        fake = super().fake_of(x)
        if fake is not x and id(fake) not in self._examples:
            self.example(fake, x)
        return fake

    def _real(self, x: Any) -> Any:
        """Return the value that a fake tensor or symbolic number has for the example arguments.

        Raise KeyError if the value is unknown.
        """
        if isinstance(x, Tensor):
            return self._examples[id(x)][1] if is_fake(x) else x
        if isinstance(x, SymNumber):
            return self.policy.in_example(self.environment, x.node.expression)
        return [self._real(y) for y in x] if isinstance(x, list) else x

    # ---- execution on example values

    def run_on_fakes(
        self, op: Any, values: list[Any], new_size: Callable[[int, Any], Any] | None = None
    ) -> Any:
        try:
            real_arguments = [self._real(x) for x in values]
        # An argument without a known example value is the result of a control-flow operator.
        except KeyError:
            return super().run_on_fakes(op, values, new_size)
        try:
            fake_result = super().run_on_fakes(op, values, new_size)
        except Exception as error:  # the fake kernel of a custom operator may raise any exception
            if not op.record.of_program:
                raise
            with ts.no_grad():
                real = op.call_list(real_arguments)
            self.policy.report.add(FailureType.MISSING_FAKE_KERNEL, "op", op=_name(op), reason=str(error))
            return self._with_unbacked_sizes(real)
        with ts.no_grad():
            real = op.call_list(real_arguments)
        if op.record.of_program and (reason := self._mismatch(fake_result, real)):
            self.policy.report.add(FailureType.MISMATCHED_FAKE_KERNEL, "op", op=_name(op), reason=reason)
            return self._with_unbacked_sizes(real)
        self._bind_example(fake_result, real)
        return fake_result

    def higher_order(self, operator: Any, args: tuple[Any, ...]) -> Any:
        """Record a higher-order operator and run its subgraphs on the example values."""
        before = set(self.graph.nodes)
        result = super().higher_order(operator, args)
        for node in self.graph.nodes:
            if node in before or node.target is not operator:
                continue
            try:
                example_args = pytree.tree_map(self._real_of_node, node.args)
            except KeyError:
                continue
            with self.paused(), ts.no_grad():
                real = operator.run(*example_args)
            self._bind_example(node.meta["val"], real)
        return result

    def _real_of_node(self, x: Any) -> Any:
        """Return the example value of a node argument, or the subgraph of a `get_attr` node."""
        if not isinstance(x, Node):
            return x
        if x.op == "get_attr" and str(x.target) in self.submodules:
            return self.submodules[str(x.target)]
        return self._real(x.meta["val"])

    def _bind_example(self, fake: Any, real: Any) -> None:
        """Record `real` as the example value of `fake`, and its sizes as values of the symbols in `fake`."""
        if isinstance(fake, Tensor) and isinstance(real, Tensor):
            self._store_example(fake, real)
            for size, n in zip(fake.array.shape, real.shape, strict=True):
                self._bind_symbol(size, n)
        elif isinstance(fake, list | tuple) and isinstance(real, list | tuple):
            for x, y in zip(fake, real, strict=True):
                self._bind_example(x, y)
        else:
            self._bind_symbol(fake, real)

    def _bind_symbol(self, fake: Any, real: Any) -> None:
        if not isinstance(fake, SymNumber):
            return
        environment, expression = self.environment, fake.node.expr
        # A data-dependent boolean is stored as the condition `u == 1` on an unbacked symbol `u`.
        if isinstance(expression, sympy.Eq) and isinstance(real, bool):
            expression, real = expression.lhs, int(real)
        if expression.is_Symbol and expression not in environment.hints:
            self.policy.examples.setdefault(expression, real)

    # ---- custom operators with insufficient fake kernels

    def _with_unbacked_sizes(self, real: Any) -> Any:
        """Return `real` with each tensor replaced by a fake one. Its sizes are new unbacked symbols."""
        if isinstance(real, list | tuple):
            return type(real)(map(self._with_unbacked_sizes, real))
        if not isinstance(real, Tensor):
            return real
        environment = self.environment
        sizes = [symbol_of(environment.unbacked(is_size=True), environment) for _ in real.shape]
        fake = fake_for(fake_array(sizes, real.array.dtype), real.device)
        self._bind_example(fake, real)
        return fake

    def _mismatch(self, fake: Any, real: Any) -> str:
        """Return a description of how fake and real results differ, or "" if they are consistent."""
        fake, real = pytree.tree_leaves(fake), pytree.tree_leaves(real)
        if len(fake) != len(real):
            return f"{len(real)} results and {len(fake)} are not equal!"
        for x, y in zip(fake, real, strict=True):
            if not isinstance(x, Tensor) or not isinstance(y, Tensor):
                continue
            if x.dtype is not y.dtype:
                return f"Dtypes {y.dtype} and {x.dtype} are not equal!"
            shape = [self._example_of(n, m) for n, m in zip(x.array.shape, y.shape, strict=False)]
            if x.ndim != y.ndim or shape != list(y.shape):
                return f"Shapes {y.shape} and {ts.Size(shape)} are not equal!"
        return ""

    def _example_of(self, size: Any, default: int) -> Any:
        """Return the example value of `size`. If a symbol in it has no example value, return `default`."""
        try:
            return self._real(size)
        except KeyError:
            return default


class _Draft(Export):
    """Export that records each failure in the report and continues."""

    def __init__(
        self,
        report: DraftExportReport,
        mod: Module,
        args: Any,
        kwargs: Any,
        dynamic_shapes: Any,
        preserved: Sequence[str],
    ) -> None:
        self.report = report
        super().__init__(mod, args, kwargs, dynamic_shapes, preserved)

    def new_recorder(self) -> ExportTracer:
        return _DraftRecorder(_DraftPolicy(self.report))

    def report_guards(self, shapes: Any) -> None:
        """Add a failure to the report for each guard, because a guard contradicts the given dimension specs.

        `shapes` are new specs that are consistent with the guards.
        """
        for condition, frame in self.environment.guards:
            sources = {str(s): self.environment.sources[s][0].code for s in condition.free_symbols}
            user_stack: list[UserFrame] = [] if frame is None else [frame]
            self.report.add(
                FailureType.GUARD_ADDED,
                "expr",
                expr=str(condition),
                symbol_to_sources=sources,
                user_stack=user_stack,
                new_dynamic_shapes=shapes,
            )


def _name(op: Any) -> str:
    return f"{op.name.replace('::', '.')}.{op.overload or 'default'}"
