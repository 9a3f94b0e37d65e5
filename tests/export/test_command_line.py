"""The command line on exported programs: `run`, `info`, `graph`, `code`, `check`, and commands that reject
them."""

import numpy as np
import pytest

import ts
from tests.test_cli import output
from ts.export import Dim, export, save


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = ts.nn.Linear(3, 2)

    def forward(self, x, n, *, pair):
        return self.fc(x) * n + pair["a"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "net.pt2"
    ts.manual_seed(0)
    shapes = {"x": {0: Dim("rows", min=2, max=9)}, "n": None, "pair": {"a": None}}
    program = export(Net(), (ts.ones(4, 3), 2), {"pair": {"a": ts.ones(2)}}, dynamic_shapes=shapes)
    save(program, path, extra_files={"notes.txt": "hello"})
    return path


def test_run_accepts_leaves_by_name(model, tmp_path, capsys):
    """Arguments are named by their leaves in trees; constant numbers may be omitted; `-o` writes the result."""
    np.save(tmp_path / "x.npy", np.ones((5, 3), np.float32))
    np.save(tmp_path / "a.npy", np.zeros(2, np.float32))
    words = [str(tmp_path / "x.npy"), f"pair_a={tmp_path / 'a.npy'}", "-o", str(tmp_path / "y.npy")]
    assert output(capsys, "run", model, *words) == (0, "", "")
    want = ts.export.load(model).module()(ts.ones(5, 3), 2, pair={"a": ts.zeros(2)})
    assert np.load(tmp_path / "y.npy").tolist() == want.tolist()


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["float32[10,3]", "pair_a=float32[2]"], 1, "Guard failed: x.size()[0] <= 9"),
        (["float32[5,3]", "n=3", "pair_a=float32[2]"], 1, "Guard failed: n == 2"),
        (["float32[5,3]"], 2, "missing arguments pair_a of forward"),
        (["float32[5,3]", "z=1"], 2, "no parameter 'z'"),
    ],
)
def test_run_rejects(model, capsys, words, code, error):
    found, _, error = output(capsys, "run", model, *words)
    assert found == code
    assert error in error


def test_info_of_a_program(model, capsys):
    """`info` prints inputs, sizes, conditions, tensors and operators of a program."""
    _, text, _ = output(capsys, "info", model)
    for part in (
        "producer     ts",
        "notes.txt",
        "n = 2",
        "from 2 to 9",
        "x.size()[0] <= 9",
        "8 in 2 tensors",
        "aten::linear",
    ):
        assert part in text


def test_graph_and_code_are_printed(model, capsys):
    """`graph` prints the graph with its signature, `code` the code with types of values."""
    _, graph, _ = output(capsys, "graph", model)
    assert "torch.ops.aten.linear.default" in graph
    assert "p_fc_weight: PARAMETER target='fc.weight'" in graph
    _, code, _ = output(capsys, "code", model)
    assert "torch.ops.aten.linear.default(x, p_fc_weight, p_fc_bias)" in code
    assert 'x: "f32[s0, 3]"' in code


def test_check_loads_programs(model, tmp_path, capsys):
    """`check` of a folder checks all its programs and reports damaged ones."""
    data = model.read_bytes()
    (tmp_path / "whole.pt2").write_bytes(data)
    code, text, _ = output(capsys, "check", tmp_path)
    assert code == 0
    assert "forward(x: float32[s0, 3]" in text
    (tmp_path / "broken.pt2").write_bytes(data.replace(b"torch.ops.aten.linear.", b"torch.ops.aten.nothing"))
    code, _, error = output(capsys, "check", tmp_path)
    assert code == 1
    assert "broken.pt2" in error


@pytest.mark.parametrize("command", ["bench", "bytecode"])
def test_other_commands_reject_exported_programs(model, capsys, command):
    code, _, error = output(capsys, command, model)
    assert code == 2
    assert "exported program" in error
