"""Inside of scripts tensors print as in PyTorch's: format by the values, type and sizes below."""

import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402
from ts.runtime.text import script_text  # noqa: E402

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
    torch.tensor([1, 2], dtype=torch.uint8),
    torch.tensor([1.5], dtype=torch.half),
]


@torch.jit.script
def text_of(x):
    return str(x)


@pytest.mark.parametrize("x", TENSORS, ids=range(len(TENSORS)))
def test_script_text(x):
    """`str(x)` of a program."""
    assert script_text(ts.tensor(x.numpy())) == text_of(x)


def shown(x):
    print(x, [x], 3)
    return "{}".format(x)


def test_print(capsys):
    """`print` and `format` show tensors alone and in lists."""
    ours = ts.jit.script(shown)(ts.ones([2]))
    printed = capsys.readouterr().out
    assert ours == " 1\n 1\n[ CPUFloatType{2} ]"
    assert printed == " 1\n 1\n[ CPUFloatType{2} ] [ 1\n 1\n[ CPUFloatType{2} ]] 3\n"
