"""`torch.compiler` state during export, and devices of fake tensors."""

import pytest

import ts
from tests.export.functions import Function, FunctionOfOne
from ts.export import draft_export, export


def states():
    return (
        ts.compiler.is_compiling(),
        ts.compiler.is_exporting(),
        ts.compiler.is_dynamo_compiling(),
        ts.jit.is_tracing(),
        ts._dynamo.is_compiling(),
    )


def test_states():
    seen = []

    def program(x):
        seen.append(states())
        return x + 1

    assert states() == (False,) * 5
    export(FunctionOfOne(program), (ts.ones(2),))
    draft_export(FunctionOfOne(program), (ts.ones(2),))
    assert seen == [(True, True, False, False, True)] * 2
    seen.clear()
    ts.jit.trace(FunctionOfOne(program), (ts.ones(2),), check_trace=False)
    assert seen == [(False, False, False, True, False)]
    assert states() == (False,) * 5


def test_states_in_scripts():
    """In scripts, `is_compiling` and `is_exporting` are False: branches for exports compile, but never run."""

    @ts.jit.script
    def program(x: ts.Tensor):
        if ts.compiler.is_compiling():
            return x + 1
        if ts.compiler.is_exporting() or ts.compiler.is_dynamo_compiling():
            return x + 2
        return x

    assert "prim::CallFunction" in str(program.graph) and "is_compiling" in str(program.graph)
    assert program(ts.zeros(1)).item() == 0


def test_states_after_an_error():
    def program(x):
        raise KeyError("of the program")

    with pytest.raises(KeyError):
        export(FunctionOfOne(program), (ts.ones(2),))
    assert not ts.compiler.is_exporting()


@pytest.mark.parametrize(
    "program",
    [
        lambda x, y: x + y,
        lambda x, y: ts.cat([x, y]),
        lambda x, y: x * y.sum(),
        lambda x, y: x.index_select(0, y),
    ],
)
def test_tensors_on_several_devices(program):
    message = "Expected all tensors to be on the same device, but found at least two devices, cpu and meta!"
    with pytest.raises(ts._subclasses.fake_tensor.FakeTensorDeviceMismatchError, match=message):
        export(Function(program), (ts.ones(2), ts.ones(2, device="meta")))


def test_devices_that_may_differ():
    """Operators that accept several devices: 0-dim CPU tensors, copies, indexing."""

    def program(x, y):
        return y + ts.tensor(2.0), x.clone().copy_(y)

    assert export(Function(program), (ts.ones(2), ts.ones(2, device="meta"))).graph
