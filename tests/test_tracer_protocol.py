"""All tracers implement one protocol, and other code uses only its attributes and methods."""

import ast
import inspect
from pathlib import Path

import pytest

import ts.export.functionalization
from ts._core.thread.tracer_protocol import TracerProtocol
from ts._higher_order_ops.meta_evaluation import MetaEvaluator
from ts._subclasses.fake_tensor import FakeTensorMode
from ts.export.tracer import ExportTracer
from ts.tracing.tracer import Tracer
from ts.utils._python_dispatch import _OperatorTracer

ROOT = Path(__file__).resolve().parent.parent
TRACERS = (
    Tracer,
    ExportTracer,
    ts.export.functionalization.FunctionalizingTracer,
    MetaEvaluator,
    FakeTensorMode,
    _OperatorTracer,
)
METHODS = [
    name
    for name, member in vars(TracerProtocol).items()
    if inspect.isfunction(member) and not name.startswith("_")
]


@pytest.mark.parametrize("tracer", TRACERS)
def test_tracers_implement_the_protocol(tracer):
    assert TracerProtocol in tracer.__mro__ and not tracer.__abstractmethods__
    for name in METHODS:
        declared = list(inspect.signature(getattr(TracerProtocol, name)).parameters.values())
        defined = list(inspect.signature(getattr(tracer, name)).parameters.values())
        assert len(declared) == len(defined) or defined[-1].kind is inspect.Parameter.VAR_POSITIONAL, name


@pytest.mark.parametrize(
    "flag, method", [("has_elements", "element"), ("records_higher_order", "higher_order")]
)
def test_flags_state_which_methods_are_overridden(flag, method):
    """A flag of a tracer is True if and only if the class of the tracer overrides the method of the flag."""
    for tracer in TRACERS:
        assert getattr(tracer, flag) is (getattr(tracer, method) is not getattr(TracerProtocol, method)), (
            tracer
        )


def test_is_trace_and_is_export():
    """`is_trace` is True only for the tracer of `jit.trace`, and `is_export` only for tracers of exports."""
    assert [(t.is_trace, t.is_export) for t in TRACERS] == [(True, False), (False, True), (False, True)] + [
        (False, False)
    ] * 3


def subclasses(cls):
    return [cls, *(other for each in cls.__subclasses__() for other in subclasses(each))]


def test_conversions_reach_tracers_as_operators():
    """`Tensor.to` calls the operator `aten::to`, so that no tracer parses the arguments of `to`."""
    tracers = subclasses(TracerProtocol)
    assert set(TRACERS) < set(tracers)
    assert [tracer for tracer in tracers if hasattr(tracer, "to")] == []


def is_tracer(node):
    """Return True for an expression that is the tracer of the thread."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("current_tracer", "tracer")
    return isinstance(node, ast.Name) and node.id in ("tracer", "recorder", "outer")


def test_no_getattr_on_tracers():
    """No code uses `hasattr` or `getattr` on tracers."""
    for path in sorted((ROOT / "ts").rglob("*.py")):
        source = path.read_text()
        if "tracer" not in source or path.is_relative_to(
            ROOT / "ts" / "fx"
        ):  # `ts.fx` has another tracer class
            continue
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("hasattr", "getattr")
            ):
                assert not is_tracer(node.args[0]), f"{path}, line {node.lineno}"
    for path in sorted((ROOT / "ts" / "_core").rglob("*.pyx")):
        assert "attr(tracer()" not in path.read_text(), path
