"""In scripts, tensors are printed as in PyTorch: number format by the values, type and sizes at the end."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.ir.graph import Graph  # noqa: E402
from ts.runtime.tensor_str import script_text  # noqa: E402

inf, nan = float("inf"), float("nan")
TENSORS = [
    torch.tensor(3.5),
    torch.tensor(0.1),
    torch.tensor(7),
    torch.tensor(True),
    torch.zeros(0),
    torch.zeros(2, 0, 3),
    torch.tensor([1.0, nan, inf]),
    torch.tensor([1.0, -inf, 0.5]),
    torch.tensor([[1.5, -2.25], [1000.0, 3.0]]),
    torch.tensor([2.0**60, 1.0]),
    torch.tensor([1e-200, 1e150], dtype=torch.float64),
    torch.tensor([[1e-3, 2e-3], [3e-3, 4e-3]]),
    torch.tensor([123456.5, 100000.5]),
    torch.arange(40) * 100000,
    torch.arange(60).view(2, 30),
    torch.arange(120).view(2, 2, 30),
    torch.arange(60).view(2, 30) * 1e-5,
    torch.arange(24).view(2, 3, 4) * 1.5e5,
    torch.arange(120).view(2, 2, 30) * 1e-5,
    torch.tensor([1e6 + 0.5, 2e6]),
    torch.arange(16).view(2, 2, 2, 2),
    torch.tensor([1 + 2j, 3]),
    torch.tensor(1 + 2j),
    torch.tensor([1, 2], dtype=torch.uint8),
    torch.tensor([1.5], dtype=torch.half),
]


@torch.jit.script
def format_value(x):
    return str(x)


@pytest.mark.parametrize("x", TENSORS, ids=range(len(TENSORS)))
def test_script_text(x):
    """`str(x)` in a script equals PyTorch's text."""
    assert script_text(ts.tensor(x.numpy())) == format_value(x)


def print_and_format(x):
    print(x, [x], 3)
    return "{}".format(x)


def test_print(capsys):
    """`print` and `format` in a script print tensors alone and in lists."""
    ours = ts.jit.script(print_and_format)(ts.ones([2]))
    printed = capsys.readouterr().out
    assert ours == " 1\n 1\n[ CPUFloatType{2} ]"
    assert printed == " 1\n 1\n[ CPUFloatType{2} ] [ 1\n 1\n[ CPUFloatType{2} ]] 3\n"


def constants():
    """Yield small arrays of all kinds of elements, for all layouts that the printer distinguishes."""
    random = np.random.RandomState(0)
    shapes = [(5,), (1, 8), (7, 1), (2, 2, 2), (1, 3, 2), (2, 2, 1, 2), (1,), (1, 10), (0, 2)]
    for i in range(150):
        shape = shapes[i % len(shapes)]
        scale = random.randint(-8, 12, size=shape if i % 2 else ())
        values = random.randn(*shape) * 10.0**scale
        if i % 5 == 0:
            values = np.round(np.clip(values, -1e15, 1e15)).astype(np.int64)
        elif i % 5 == 1:
            values = np.round(values)
        elif i % 5 == 2 and values.size:
            values.flat[0] = (nan, inf, -inf)[i % 3]
        yield values


def test_constants_of_graphs():
    """A tensor constant in graph text is printed in one line, as in PyTorch."""
    for values in constants():
        texts = []
        for graph, package in ((Graph(), ts), (torch._C.Graph(), torch)):
            node = graph.create("prim::Constant", [], 1)
            graph.appendNode(node.t_("value", package.from_numpy(values.copy())))
            texts.append(str(graph).split("value=")[1])
        assert texts[0] == texts[1]
