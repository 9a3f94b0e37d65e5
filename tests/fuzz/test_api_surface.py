"""Calls with arbitrary arguments to all functions, types and methods of the extensions never end the
process."""

import importlib

import pytest

from tests.fuzz import api_surface
from tests.sharding import some

PARTS = 4


@pytest.mark.parametrize("part", some(0, 2, of=range(PARTS)))
def test_entries(part):
    """Calls with wrong numbers and types of arguments, or with unusual values, do not crash."""
    found = api_surface.problems(0, api_surface.modules()[part::PARTS])
    assert not found, "\n".join(found)


def test_all_modules_have_entries():
    """The enumeration of entry points finds all extension modules."""
    names = [name for name, _, _ in api_surface.entries(api_surface.modules())]
    assert len(names) > 300
    assert {"ts._core.dispatch.operator.Operator.call_list", "ts.backends.cpu.kernels.conv.correlate"} <= set(names)


def test_uninitialized_objects():
    """Classes without a Python constructor cannot be created uninitialized; uninitialized objects of other
    classes hold defaults."""
    sealed, empty = [], []
    for name in api_surface.modules():
        for owner in vars(importlib.import_module(name)).values():
            if api_surface.is_class(owner, name):
                (empty if api_surface.uninitialized(owner) else sealed).append(owner.__name__)
    assert {"List", "Dict", "Tuple", "Object", "ObjectClass", "TypeSpec", "Code", "ScriptCoroutine", "PausedProgram", "Job"} <= set(sealed)
    assert set(empty) == {
        "Tensor", "Operator", "ContainerIndex", "PythonOperator", "WarnOperator", "CalleeBase", "MethodBase", "Callee", "Function", "BreakpointsBase",
        "Future", "ThreadContextSnapshot", "Loops", "_Capsule", "VerificationError", "FlagBlock", "DisableTorchFunction", "GradMode", "GradModeGuard", "TransformScope", "InferenceMode", "LimitsBlock",
        "TracingScope", "ArrayAttribute", "Recorder", "Stage", "Node", "Hooks", "NodeTask", "Rule", "Formula", "SavingNode", "FunctionNode",
        "Layer", "Overridable", "SharedContainer", "ScriptList", "ScriptDict",
        "Label", "Instruction", "LiveRange", "LiveRanges",
        "DifferentiablePlan", "BackwardVariant", "GraphRule", "OperatorLog", "OperatorObserver", "PauseLogging", "ForeachKernel", "CastPolicy", "RestoreAutocastState", "CompileTimeMode", "GraphTask",
    }  # fmt: skip
