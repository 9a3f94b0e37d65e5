"""Traces that construct or convert tensors have PyTorch's graph text."""

import re
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

PROGRAMS = {
    "as_tensor": lambda m, x: m.as_tensor(x),
    "as_tensor dtype": lambda m, x: m.as_tensor(x, dtype=m.int64),
    "as_tensor list": lambda m, x: m.as_tensor([1.0, 2.0, 3.0]),
    "as_tensor array": lambda m, x: m.as_tensor(np.ones(3)),
    "as_tensor numbers": lambda m, x: m.as_tensor([x.sum(), x.sum() * 2, 3.0]),
    "tensor": lambda m, x: m.tensor(x),
    "tensor dtype": lambda m, x: m.tensor(x, dtype=m.float64),
    "tensor list": lambda m, x: m.tensor([1.0, 2.0, 3.0]),
    "tensor numbers": lambda m, x: m.tensor([x.sum(), 2.0, 3.0]),
    "tensor integers": lambda m, x: m.tensor([x.long().sum(), 2, 3]),
    "tensor of a size": lambda m, x: m.tensor(x.size(0)),
    "tensor of the shape": lambda m, x: m.tensor(x.shape),
    "new_tensor": lambda m, x: x.new_tensor(x, dtype=m.float64),
    "new_tensor list": lambda m, x: x.new_tensor([1, 2, 3]),
    "from_numpy": lambda m, x: m.from_numpy(np.ones(3)),
    "FloatTensor": lambda m, x: m.FloatTensor(x),
    "LongTensor list": lambda m, x: m.LongTensor([1, 2, 3]),
    "LongTensor of a size": lambda m, x: m.LongTensor(x.size(0)),
    "Tensor": lambda m, x: m.Tensor(x),
    "Tensor list": lambda m, x: m.Tensor([1.0, 2.0, 3.0]),
    "new": lambda m, x: x.new(x),
    "new list": lambda m, x: x.new([1, 2, 3]),
    "asarray": lambda m, x: m.asarray(x),
    "asarray dtype": lambda m, x: m.asarray(x, dtype=m.int32),
    "asarray copy": lambda m, x: m.asarray(x, dtype=m.float64, copy=True),
    "asarray list": lambda m, x: m.asarray([1.0, 2.0, 3.0]),
    "asarray array": lambda m, x: m.asarray(np.ones(3)),
    "Parameter": lambda m, x: m.nn.Parameter(x),
    "Buffer": lambda m, x: m.nn.Buffer(x),
    "_make_subclass": lambda m, x: m.Tensor._make_subclass(m.Tensor, x),
    "cpu": lambda m, x: x.cpu(),
    "to another": lambda m, x: x.to(m.ones(1, dtype=m.float64)),
    "to itself": lambda m, x: x.to(x),
    "to a device": lambda m, x: x.to("cpu"),
    "to a device and dtype": lambda m, x: x.to("cpu", m.float64),
    "to non_blocking": lambda m, x: x.to("cpu", non_blocking=True),
    "to a memory format": lambda m, x: x.to(memory_format=m.preserve_format),
    "to copy": lambda m, x: x.to(m.float32, copy=True),
    "type": lambda m, x: x.type(m.float64),
    "type by name": lambda m, x: x.type("torch.DoubleTensor"),
    "type_as": lambda m, x: x.type_as(m.ones(1, dtype=m.float64)),
}


IN_PLACE = {
    "add": lambda m, x: (x + 0).add_(1),
    "copy": lambda m, x: (x + 0).copy_(x * 2),
    "fill": lambda m, x: (x + 0).fill_(2),
    "zero": lambda m, x: (x + 0).zero_(),
    "item": lambda m, x: _assigned(x + 0, 0, x[1]),
}
BITS = ["and", "or", "xor", "lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift"]


def _assigned(x, index, value):
    x[index] = value
    return x


@pytest.mark.parametrize("name", IN_PLACE)
def test_forced_out_of_place(name):
    texts, results = [], []
    for m in (ts, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace = m.jit.trace(
                lambda x, m=m: IN_PLACE[name](m, x), m.arange(3.0), check_trace=False, _force_outplace=True
            )
        lines = re.sub(r" # .*|%[\w.]+", "", str(trace.graph)).splitlines()
        texts.append([line for line in lines if "prim::Constant" not in line])
        results.append(trace(m.arange(3.0) * 5).tolist())
    assert texts[0] == texts[1] and results[0] == results[1]


@pytest.mark.parametrize("name", BITS)
def test_bit_operators_have_the_names_of_slots(name):
    texts = [
        re.sub(
            r" # .*",
            "",
            str(
                m.jit.trace(
                    lambda x: getattr(x + 0, f"__{name}__")(1), m.tensor([1, 2]), check_trace=False
                ).graph
            ),
        )
        for m in (ts, torch)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_text(name):
    texts = []
    for m in (ts, torch):
        options = {"guards": "off"} if m is ts else {}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trace = m.jit.trace(
                lambda x, m=m: PROGRAMS[name](m, x) * x, m.arange(3.0), check_trace=False, **options
            )
        messages = [str(w.message)[:60] for w in caught if issubclass(w.category, m.jit.TracerWarning)]
        texts.append((re.sub(r" # .*", "", str(trace.graph)), messages))
    assert texts[0] == texts[1]
