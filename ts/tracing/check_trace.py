"""Trace checking (detection of non-determinism): trace a function again, and compare traces and results.

Input: a function, its trace, a callable for the second trace, and inputs. If the results differ, the check
issues a TracerWarning. If the traces differ, it raises a TracingCheckError that lists the differences:

    Tracing failed sanity checks!
    ERROR: Graphs differed across invocations!
        Graph diff: ...
"""

from __future__ import annotations

import difflib
import re
import textwrap
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ts._core.tensor.tensor import Tensor
from ts.autograd.grad_mode import no_grad
from ts.ir.graph import Graph
from ts.ir.graph_printer import hide_source_ranges
from ts.passes.canonicalize import canonicalize
from ts.passes.erase_shapes import erase_shape_information
from ts.tracing.tracer import TracerWarning

_MANGLED: Final = re.compile(r"___torch_mangle_[0-9]+\.")  # part of a qualified name that makes it unique


class TracingCheckError(Exception):
    """Raised if two traces of a function differ."""

    def __init__(
        self, graph_diff_error: str | None, tensor_compare_error: str | None, extra_msg: str | None = None
    ) -> None:
        messages = ["Tracing failed sanity checks!"]
        messages += [
            message for message in (extra_msg, graph_diff_error, tensor_compare_error) if message is not None
        ]
        self.message = "\n".join(messages)
        super().__init__(self.message)


def check_trace(
    function: Callable[..., Any],
    traced: Any,
    trace_again: Callable[[Sequence[Any]], Any],
    inputs: Callable[[], Sequence[Any]],
    tolerance: float,
) -> None:
    """Compare a trace with a second trace and with the function, on copies of the inputs (`inputs()`)."""
    with no_grad():
        again = trace_again(inputs())
        differences = _graph_difference(traced, again), _constant_difference(traced, again)

        def run(what: Callable[..., Any], name: str) -> list[Tensor]:
            try:
                result = what(*inputs())
            except Exception as error:
                raise TracingCheckError(
                    *differences,
                    f"encountered an exception while running the {name} with test inputs.\nException:\n"
                    + textwrap.indent(str(error), "\t"),
                ) from error
            outputs = result if isinstance(result, tuple) else (result,)
            return [x for x in outputs if isinstance(x, Tensor)]

        results = run(traced, "trace")
        if _same_results(traced, results, run(function, "Python function"), "Python function", tolerance):
            _same_results(traced, results, run(again, "repeated trace"), "repeated trace", tolerance)
    if any(differences):
        raise TracingCheckError(*differences)


def _same_results(
    traced: Any, results: list[Tensor], expected: list[Tensor], of: str, tolerance: float
) -> bool:
    """Compare the results of a trace and of the function. If they differ, warn and return False."""
    same = True
    for i, (output, reference) in enumerate(zip(results, expected, strict=False)):
        problem = _difference(output, reference, tolerance)
        if problem is None:
            continue
        if same:
            _warn_of_randomness(traced)
        same = False
        _warn(
            f"Output nr {i + 1}. of the traced function does not match the corresponding output of the {of}. "
            f"Detailed error:\n{problem}"
        )
    return same


def _difference(actual: Tensor, expected: Tensor, tolerance: float) -> str | None:
    if actual.shape != expected.shape:
        return f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}."
    if actual.is_meta:
        return None
    a, b = actual._host(), expected._host()
    if not a.dtype.isbuiltin:
        a, b = a.astype(np.float32), b.astype(np.float32)
    close = np.isclose(a, b, rtol=tolerance, atol=1e-5, equal_nan=True)
    wrong = int(close.size - np.count_nonzero(close))
    if not wrong:
        return None
    share = f"{wrong} / {close.size} ({100 * wrong / close.size:.1f}%)"
    return f"Tensor-likes are not close!\n\nMismatched elements: {share}"


def _warn_of_randomness(traced: Any) -> None:
    nodes = [node for node in traced.graph.all_nodes() if node.is_nondeterministic()]
    if nodes:
        node_lines = "".join(f"\t{node}" for node in nodes[:20])
        _warn(
            "Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n"
            f"{node_lines}"
            "This may cause errors in trace checking. To disable trace checking, pass check_trace=False to "
            "torch.jit.trace()"
        )


def _warn(message: str) -> None:
    warnings.warn(message, TracerWarning, stacklevel=6)


# ---- comparison of the graphs ----------------------------------------------------------------------


def _comparable_graph(traced: Any) -> Graph:
    """Return a copy of the graph for comparison: calls inlined, values renumbered, shapes removed."""
    graph = canonicalize(traced.inlined_graph)
    erase_shape_information(graph)
    return graph


def _graph_difference(traced: Any, again: Any) -> str | None:
    with hide_source_ranges():
        before, after = (_MANGLED.sub("", str(_comparable_graph(each))) for each in (traced, again))
    if before == after:
        return None
    lines = difflib.ndiff(before.splitlines(True), after.splitlines(True))
    report = f"Graph diff:\n{textwrap.indent(''.join(lines), chr(9))}\n"
    for first, second in zip(
        _comparable_graph(traced).nodes(), _comparable_graph(again).nodes(), strict=False
    ):
        if _MANGLED.sub("", str(first)) != _MANGLED.sub("", str(second)):
            nodes = "".join(difflib.ndiff(str(first).splitlines(True), str(second).splitlines(True)))
            report += f"First diverging operator:\nNode diff:\n{textwrap.indent(nodes, chr(9))}\n"
            for name, node in (("Trace", first), ("Check", second)):
                report += f"{name} source location:\n{textwrap.indent(node.source_range(), chr(9))}\n"
            break
    return f"ERROR: Graphs differed across invocations!\n{textwrap.indent(report, chr(9))}"


def _constant_difference(traced: Any, again: Any) -> str | None:
    """Describe the tensor constants that differ between the traces. Return None if there are none."""
    for first, second in zip(
        _comparable_graph(traced).nodes(), _comparable_graph(again).nodes(), strict=False
    ):
        if first.kind() != second.kind():
            break
        a, b = first.get("value"), second.get("value")
        if first.kind() != "prim::Constant" or not isinstance(a, Tensor) or not isinstance(b, Tensor):
            continue
        if _difference(a, b, 0.0) is not None:
            node = textwrap.indent(f"Node:\n{textwrap.indent(str(first), chr(9))}", "\t")
            return (
                "ERROR: Tensor-valued Constant nodes differed in value across invocations. This often "
                "indicates that the tracer has encountered untraceable code.\n"
                f"{node}\tCompare Tensors {a} and {b}"
            )
    return None
