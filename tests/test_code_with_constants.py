"""`code_with_constants`: the source of a method and its constants without literals."""

import os
import subprocess
import sys
from typing import List

import ts

OFFSET = ts.tensor([1.0, 2.0])


class Shifted(ts.nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return x + OFFSET


def test_code_with_constants():
    """A tensor constant is printed as `CONSTANTS.c0` and is in the second result."""
    scripted = ts.jit.script(Shifted())
    text, constants = scripted.code_with_constants
    assert text == scripted.code == scripted.forward.code
    assert "torch.add(x, CONSTANTS.c0)" in text
    assert constants.c0.tolist() == [1.0, 2.0]
    assert not hasattr(constants, "c1")


def test_type_verbosity():
    """PYTORCH_JIT_TYPE_VERBOSITY selects how detailed types are printed."""
    program = (
        "import ts; print(ts.parse_ir('graph(%a : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)):"
        "\\n  return (%a)\\n'))"
    )
    shown = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTORCH_JIT_TYPE_VERBOSITY": level},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.partition(":\n")[0]
        for level in ("0", "1", "2", "3")
    ]
    assert shown == [
        "graph(%a)",
        "graph(%a : Float(2, 3))",
        "graph(%a : Float(2, 3, strides=[3, 1]))",
        "graph(%a : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu))",
    ]


class Filled(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("blank", ts.zeros(2))

    def forward(self, x: ts.Tensor) -> List[ts.Tensor]:
        rows = [self.blank] * 3
        rows[1] = x
        return rows


def test_list_of_a_constant(tmp_path):
    """A constant list of tensors, printed as source, accepts tensors of other sizes."""
    ts.jit.save(ts.jit.freeze(ts.jit.script(Filled().eval())), tmp_path / "filled.pt")
    loaded = ts.jit.load(tmp_path / "filled.pt")
    assert "[CONSTANTS.c0]" in loaded.code
    assert [row.tolist() for row in loaded(ts.ones(1))] == [[0.0, 0.0], [1.0], [0.0, 0.0]]
