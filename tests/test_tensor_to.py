"""`Tensor.to`: arguments, selected overloads, and the operator that tracers and modes receive."""

import re

import pytest

import ts
from ts import nn
from ts._core.tensor.conversions import parse_conversion
from ts._subclasses.fake_tensor import FakeTensorMode
from ts.utils._python_dispatch import TorchDispatchMode

OTHER = ts.ones(2, dtype=ts.float64)


@pytest.mark.parametrize(
    "args, kwargs, overload, device, dtype",
    [
        ((ts.float64,), {}, "dtype", None, ts.float64),
        ((float,), {}, "dtype", None, ts.float64),
        ((None, ts.float64), {}, "dtype", None, ts.float64),
        ((), {"dtype": bool, "copy": True}, "dtype", None, ts.bool),
        (("cpu",), {}, "dtype_layout", ts.device("cpu"), None),
        ((0,), {}, "dtype_layout", ts.device("cuda", 0), None),
        (("meta", ts.int64), {}, "device", ts.device("meta"), ts.int64),
        ((OTHER,), {}, "device", ts.device("cpu"), ts.float64),
        ((), {"tensor": OTHER}, "device", ts.device("cpu"), ts.float64),
        ((), {"copy": True}, "dtype_layout", None, None),
        ((), {"memory_format": ts.channels_last}, "dtype_layout", None, None),
        ((), {}, "", None, None),
        ((None, None), {"non_blocking": True}, "", None, None),
    ],
)
def test_selected_overload(args, kwargs, overload, device, dtype):
    conversion = parse_conversion(args, kwargs)
    assert (conversion.overload, conversion.device, conversion.dtype) == (overload, device, dtype)


@pytest.mark.parametrize("convert", [ts.ones(2).to, nn.Linear(1, 1).to])
@pytest.mark.parametrize(
    "args, kwargs, types",
    [
        (("cpu", True), {}, "str, bool"),
        (([],), {}, "list"),
        ((str,), {}, "type"),
        ((ts.float64, "cpu"), {}, "torch.dtype, str"),
        ((ts.float64, None), {}, "torch.dtype, NoneType"),
        ((ts.float64, True, True, True), {}, "torch.dtype, bool, bool, bool"),
        ((ts.channels_last,), {}, "torch.memory_format"),
        ((OTHER, OTHER), {}, "Tensor, Tensor"),
        ((OTHER,), {"dtype": ts.float64}, "Tensor, dtype=torch.dtype"),
        ((ts.float64,), {"dtype": ts.float64}, "torch.dtype, dtype=torch.dtype"),
        ((ts.float64,), {"device": "cpu"}, "torch.dtype, device=str"),
        ((), {"tensor": None}, "tensor=NoneType, "),
        ((), {"other": OTHER}, "other=Tensor, "),
        ((), {"foo": 1, "bar": 2}, "bar=int, foo=int, "),
        ((), {"copy": 1}, "copy=int, "),
        ((), {"device": ts.float64}, "device=torch.dtype, "),
    ],
)
def test_rejected_arguments(convert, args, kwargs, types):
    text = (
        f"to() received an invalid combination of arguments - got ({types}), but expected one of:\n * (torch."
    )
    with pytest.raises(TypeError, match=f"^{re.escape(text)}"):
        convert(*args, **kwargs)


def test_too_many_arguments():
    with pytest.raises(TypeError, match=r"^to\(\) takes from 0 to 4 positional arguments but 5 were given$"):
        ts.ones(2).to("cpu", ts.float64, False, True, ts.contiguous_format)


# call -> node that `export` records, node after `run_decompositions`. None means no node
CALLS = {
    "x.to()": (None, None),
    "x.to(None)": (None, None),
    "x.to(y)": ("to.device(x, cpu, torch.float64)", "_to_copy.default(x, dtype=torch.float64, device=cpu)"),
    "x.to(ts.float32)": ("to.dtype(x, torch.float32)", None),
    "x.to(ts.float32, copy=True)": (
        "to.dtype(x, torch.float32, False, True)",
        "_to_copy.default(x, dtype=torch.float32)",
    ),
    "x.double()": ("to.dtype(x, torch.float64)", "_to_copy.default(x, dtype=torch.float64)"),
    "x.to(ts.float64, True)": (
        "to.dtype(x, torch.float64, True)",
        "_to_copy.default(x, dtype=torch.float64, non_blocking=True)",
    ),
    "x.to(ts.float64, memory_format=ts.channels_last)": (
        "to.dtype(x, torch.float64, False, False, torch.channels_last)",
        "_to_copy.default(x, dtype=torch.float64, memory_format=torch.channels_last)",
    ),
    "x.to(memory_format=ts.contiguous_format)": (
        "to.dtype_layout(x, dtype=torch.float32, layout=torch.strided, device=cpu, "
        "memory_format=torch.contiguous_format)",
        None,
    ),
    "x.to('meta')": (
        "to.dtype_layout(x, dtype=torch.float32, layout=torch.strided, device=meta)",
        "_to_copy.default(x, dtype=torch.float32, layout=torch.strided, device=meta)",
    ),
    "x.to(device='cpu', copy=True)": (
        "to.dtype_layout(x, dtype=torch.float32, layout=torch.strided, device=cpu, copy=True)",
        "_to_copy.default(x, dtype=torch.float32, layout=torch.strided, device=cpu)",
    ),
    "ts.ops.aten.to.dtype(x, ts.float64)": (
        "to.dtype(x, torch.float64)",
        "_to_copy.default(x, dtype=torch.float64)",
    ),
    "ts.ops.aten.to.other(x, y)": (
        "to.other(x, y)",
        "_to_copy.default(x, dtype=torch.float64, layout=torch.strided, device=cpu, pin_memory=False)",
    ),
    "x.type_as(y)": (
        "type_as.default(x, y)",
        "_to_copy.default(x, dtype=torch.float64, layout=torch.strided, device=cpu)",
    ),
}


class Call(nn.Module):
    def __init__(self, text):
        super().__init__()
        self.function = eval(f"lambda x, y: {text}", {"ts": ts})

    def forward(self, x, y):
        return self.function(x, y)


def call_text(target, args, kwargs):
    texts = [*map(str, args), *(f"{k}={v}" for k, v in kwargs.items())]
    return f"{str(target).removeprefix('aten.')}({', '.join(texts)})"


def nodes_of(program):
    nodes = [node for node in program.graph.nodes if node.op == "call_function"]
    return [call_text(node.target, node.args, node.kwargs) for node in nodes]


@pytest.mark.parametrize("text", CALLS)
def test_exported_nodes(text):
    program = ts.export.export(Call(text), (ts.ones(1, 2, 3, 4), OTHER))
    recorded, decomposed = CALLS[text]
    asserted = "_assert_tensor_metadata.default(x, dtype=torch.float32, device=cpu, layout=torch.strided)"
    expected = [recorded] if recorded else []
    assert nodes_of(program) == ([asserted, *expected] if recorded and "to.d" in recorded else expected)
    nodes = [x for x in nodes_of(program.run_decompositions()) if "metadata" not in x]
    assert nodes == ([decomposed] if decomposed else [])


@pytest.mark.parametrize("text", CALLS)
def test_operators_of_dispatch_modes(text):
    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names = {id(x): "x", id(OTHER): "y"}
            calls.append(call_text(func, [names.get(id(a), a) for a in args], kwargs or {}))
            return func(*args, **(kwargs or {}))

    calls = []
    x = ts.ones(1, 2, 3, 4)
    with Log():
        Call(text)(x, OTHER)
    assert calls == [call for call in CALLS[text][1:] if call]


def test_fake_tensors():
    """The device of the result need not exist. A conversion that changes anything copies."""
    with FakeTensorMode(), ts.no_grad():
        x = ts.empty(2, 3, 4, 5, requires_grad=True)
        for convert in (lambda: x.to(ts.float32), lambda: x.to(), lambda: x.to("cpu")):
            assert convert() is x
        moved = x.to("cuda")
        assert (moved.device, moved.requires_grad) == (ts.device("cuda", 0), False)
        assert x.device == ts.device("cpu") and x.to(moved).device == moved.device
        assert ts.ops.aten.to.device(x, ts.device("cuda"), ts.float32).device == moved.device
        assert moved.to("cpu").device == x.device
        assert x.to(memory_format=ts.channels_last).stride() == (60, 1, 15, 3)
        assert ts.tensor(3).to("cuda", ts.float64).item() == 3.0
        assert ts.func.vmap(lambda row: row.to("cuda"))(x).device == moved.device


def test_fake_copy_of_a_real_tensor_may_be_written():
    real = ts.ones(3)
    with ts.fake():
        real.to(ts.float64).add_(1)
        with pytest.raises(RuntimeError, match="writes to a tensor with elements"):
            real.to(ts.float32).add_(1)


def test_exported_conversion_to_another_device_copies():
    """A conversion to another device does not share memory with its argument."""

    class Move(nn.Module):
        def forward(self, x):
            y = x.to("cuda")
            y.add_(1)
            return x.to("cuda", ts.float64), y

    program = ts.export.export(Move(), (ts.ones(2),)).run_decompositions()
    assert program.graph_signature.user_inputs_to_mutate == {}
    assert [x for x in nodes_of(program) if "metadata" not in x] == [
        "_to_copy.default(x, dtype=torch.float32, layout=torch.strided, device=cuda)",
        "add.Tensor(_to_copy, 1)",
        "_to_copy.default(x, dtype=torch.float64, device=cuda)",
    ]
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    assert [str(x.meta["val"].device) for x in output.args[0]] == ["cuda", "cuda"]
