"""`ts bench --against torch`: both libraries load one archive and have equal results."""

import pytest

import ts
from tests.test_cli import output


def test_against_torch(tmp_path, capsys):
    path = tmp_path / "model.pt"
    ts.jit.script(ts.nn.Sequential(ts.nn.Linear(3, 2), ts.nn.ReLU())).save(path)
    code, out, err = output(capsys, "bench", path, "input=float32[2,3]", "--against", "torch", "--rounds", 2)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "torch 2." in lines[1] and lines[1].endswith("torch / ts")
    assert all(line.endswith("x") for line in lines[2:6]) and lines[6].startswith("the results ")


@pytest.mark.parametrize("dtype", ("bfloat16", "complex64", "bool", "int64"))
def test_values_of_torch(tmp_path, capsys, dtype):
    """Tensors of these dtypes are passed to PyTorch and returned."""
    path = tmp_path / "program.py"
    path.write_text("import ts\ndef same(x: ts.Tensor) -> ts.Tensor:\n    return x.clone()\n")
    code, out, err = output(
        capsys, "bench", f"{path}:same", f"{dtype}[2,3]", "--against", "torch", "--rounds", 1
    )
    assert (code, err) == (0, "") and out.endswith("the results are equal\n")


def test_results_that_differ(tmp_path, capsys, monkeypatch):
    """`bench` exits with an error status for different results."""
    path = tmp_path / "program.py"
    path.write_text("import ts\ndef same(x: ts.Tensor) -> ts.Tensor:\n    return x.clone()\n")
    monkeypatch.setattr("ts.cli.bench.difference", lambda one, other: 0.5)
    code, out, _ = output(capsys, "bench", f"{path}:same", "float32[2]", "--against", "torch", "--rounds", 1)
    assert code == 1 and out.endswith("the results differ by at most 0.5\n")
