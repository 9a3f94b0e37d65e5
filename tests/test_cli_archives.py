"""The command line on archives: `run`, `info`, the stages, `diff`, `convert`, and files that cannot be read."""

import zipfile
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import ts
from tests.test_cli import output

Boxes = namedtuple("Boxes", ["corners", "labels"])


class Head(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = ts.nn.Linear(3, 2)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return self.fc(x)


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()
        self.register_buffer("scale", ts.tensor([2.0, 3.0]))

    def forward(self, x: ts.Tensor, n: int = 2) -> ts.Tensor:
        return self.head(x) * self.scale * n

    @ts.jit.export
    def parts(self, x: ts.Tensor) -> tuple[ts.Tensor, dict[str, list[ts.Tensor]]]:
        return x, {"a": [x + 1]}

    @ts.jit.export
    def again(self, n: int) -> int:
        total = 0
        while n > 0:
            total += 1
        return total


@pytest.fixture
def net() -> Net:
    ts.manual_seed(0)
    return Net().eval()


@pytest.fixture
def model(net: Net, tmp_path: Path) -> Path:
    path = tmp_path / "net.pt"
    ts.jit.save(ts.jit.script(net), path, {"labels.txt": "cat\ndog"})
    return path


@pytest.fixture
def x(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    return tmp_path / "x.npy"


def expected(net: Net, n: int = 2) -> np.ndarray:
    with ts.no_grad():
        return net(ts.arange(6, dtype=ts.float32).reshape(2, 3), n).numpy()


# ---- run ---------------------------------------------------------------------------------------------


def test_run(net, model, x, tmp_path, capsys):
    """Arguments are passed by position and by name; the result is printed or written."""
    out = tmp_path / "y.npy"
    assert output(capsys, "run", model, x, "-o", out) == (0, "", "")
    assert np.array_equal(np.load(out), expected(net))
    assert output(capsys, "run", model, "n=3", f"x={x}", "--out", out)[0] == 0
    assert np.array_equal(np.load(out), expected(net, 3))
    assert output(capsys, "run", model, "[[1, 2, 3.0]]", "0")[1] == "tensor([[-0., 0.]])\n"
    assert output(capsys, "run", f"{model}:again", "0")[1] == "0\n"


def test_run_reads_and_writes_many_arrays(net, model, x, tmp_path, capsys):
    """An .npz file with the parameter names provides all arguments; several results are written to an .npz
    file by position and key."""
    np.savez(tmp_path / "in.npz", x=np.load(x), n=np.array(5))
    assert output(capsys, "run", model, tmp_path / "in.npz", "-o", tmp_path / "out.npz")[0] == 0
    assert np.array_equal(np.load(tmp_path / "out.npz")["out"], expected(net, 5))
    assert output(capsys, "run", f"{model}:parts", x, "-o", tmp_path / "parts.npz")[0] == 0
    parts = np.load(tmp_path / "parts.npz")
    assert sorted(parts.files) == ["0", "1.a.0"]
    assert np.array_equal(parts["1.a.0"], np.load(x) + 1)


def test_run_omits_none_results(tmp_path, capsys):
    """None results are omitted from the output file; a single None writes nothing."""
    path = tmp_path / "nothing.py"
    path.write_text(
        "from typing import Dict, Optional, Tuple\nimport ts\n"
        "def some(x: ts.Tensor) -> Tuple[ts.Tensor, Optional[ts.Tensor], Dict[str, Optional[int]]]:\n"
        "    return x, None, {'a': None, 'b': 2}\n"
        "def none(x: ts.Tensor) -> Optional[ts.Tensor]:\n    return None\n"
    )
    out = tmp_path / "some.npz"
    assert output(capsys, "run", f"{path}:some", "[1.5]", "-o", out) == (0, "", "")
    assert sorted(np.load(out).files) == ["0", "2.b"]
    code, _, err = output(capsys, "run", f"{path}:none", "[1.5]", "-o", out)
    assert code == 2 and "returned NoneType" in err


def test_run_names_fields_and_widens_floats(tmp_path, capsys):
    """Fields of a named tuple are names in the .npz file; bfloat16, unsupported by NumPy, becomes float32."""
    path = tmp_path / "fields.py"
    path.write_text(
        "from typing import NamedTuple\nimport ts\n"
        "class Boxes(NamedTuple):\n    corners: ts.Tensor\n    count: int\n"
        "def find(x: ts.Tensor) -> Boxes:\n    return Boxes(x.bfloat16(), 3)\n"
    )
    assert output(capsys, "run", f"{path}:find", "[1.5]", "-o", tmp_path / "boxes.npz")[0] == 0
    result = np.load(tmp_path / "boxes.npz")
    assert {n: (result[n].dtype.name, result[n].tolist()) for n in result.files} == {
        "corners": ("float32", [1.5]),
        "count": ("int64", 3),
    }


def test_parts_and_classes(net, model, x, tmp_path, capsys):
    """Submodules can be run by name; a module class of a program is instantiated."""
    direct = np.load(x) @ net.head.fc.weight.detach().numpy().T + net.head.fc.bias.detach().numpy()
    for name in ("head", "head.forward", "head.fc"):
        assert output(capsys, "run", f"{model}:{name}", x, "-o", tmp_path / "y.npy")[0] == 0
        assert np.allclose(np.load(tmp_path / "y.npy"), direct)
    path = tmp_path / "cli_doubling.py"
    path.write_text(
        "import ts\nclass Doubling(ts.nn.Module):\n    def forward(self, x):\n        return x * 2\n"
    )
    assert output(capsys, "run", f"{path}:Doubling", "[1.0]")[:2] == (0, "tensor([2.])\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{m}", "{x}", "m=2"], "forward has no parameter 'm'; its parameters are: x, n"),
        (["{m}"], "missing arguments x of forward(Tensor x, int n=2)"),
        (["{m}", "{x}", "x={x}"], "forward got 'x' twice"),
        (["{m}", "x={x}", "{x}"], "follows the keyword argument for 'x'"),
        (["{m}", "{x}", "1", "2"], "forward takes 2 arguments: forward(Tensor x, int n=2)"),
        (["{m}:absent"], "the model has no 'absent'; it has: forward, again, parts, head"),
        (["{m}:head.absent"], "head has no 'absent'; it has: forward, fc"),
        (["{m}", "{x}", "-o", "y.txt"], "--out: expected .npy (one tensor), .npz (all results) or - (one tensor"),
        (["{m}:parts", "{x}", "-o", "-"], "parts returned tuple; use an .npz file"),
        (["{m}:parts", "{x}", "-o", "y.npy"], "parts returned tuple; use an .npz file"),
        (["{m}", "absent.npy"], "cannot read absent.npy: No such file or directory\n"),
        (["absent.pt"], "no such file: absent.pt"),
        (["{m}", "{x}", "--seconds", "-1"], "seconds must not be negative"),
    ],
)
def test_usage_errors(model, x, capsys, arguments, message):
    code, out, err = output(capsys, "run", *[a.format(m=model, x=x) for a in arguments])
    assert (code, out) == (2, "")
    assert message in err and err.startswith("ts run: ") and err.count("\n") == 1


# ---- limits and unreadable files ---------------------------------------------------------------------


@pytest.mark.parametrize("limit", [["--seconds", "0.2"], ["--fuel", "1000"]])
def test_limits_hold_for_archives(model, capsys, limit):
    code, out, err = output(capsys, "run", f"{model}:again", "1", *limit)
    assert (code, out) == (1, "") and "Exceeded" in err


def test_memory_is_limited(model, tmp_path, capsys):
    """The memory limit applies to loading and running, with unit suffixes."""
    big = tmp_path / "big.py"
    big.write_text("import ts\ndef big(n: int):\n    return ts.zeros(n)\n")
    assert output(capsys, "run", f"{big}:big", "10", "--bytes", "1M")[0] == 0
    code, _, err = output(capsys, "run", f"{big}:big", "1000000", "--bytes", "1M")
    assert code == 1 and "MemoryExceeded" in err
    code, _, err = output(capsys, "info", model, "--bytes", "100")
    assert (
        code == 1 and err.startswith(f"cannot read {model}: ") and "--bytes" in err and err.count("\n") == 1
    )


def test_archive_commands_have_default_limits(model, capsys, monkeypatch):
    """Archive commands have default limits; a value of 0 disables a limit."""
    monkeypatch.setattr("ts.cli.limit_options._SECONDS", 1e-6)
    assert output(capsys, "run", model, "[[1.0, 2, 3]]")[0] == 1
    assert output(capsys, "run", model, "[[1.0, 2, 3]]", "--seconds", "0")[0] == 0


def unreadable(folder: Path, model: Path) -> dict[str, Path]:
    """Return invalid archive files by the kind of defect."""
    files = {}
    for name, data in {"empty": b"", "text": b"hello", "cut": model.read_bytes()[:-200]}.items():
        files[name] = folder / f"{name}.pt"
        files[name].write_bytes(data)
    files["checkpoint"] = folder / "checkpoint.pt"
    ts.save({"x": ts.ones(2)}, files["checkpoint"])
    files["newer"] = folder / "newer.pt"
    files["program"] = folder / "program.pt"
    files["program"].write_text("raise SystemExit('it ran')")
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(files["newer"], "w") as new:
        for entry in old.infolist():
            data = b"99\n" if entry.filename.endswith("version") else old.read(entry)
            new.writestr(entry.filename, data)
    return files


@pytest.mark.parametrize("kind", ["empty", "text", "cut", "checkpoint", "newer", "program"])
@pytest.mark.parametrize("command", ["run", "info", "graph", "check", "diff"])
def test_unreadable_files_are_reported_in_one_line(command, kind, model, tmp_path, capsys):
    """An unreadable file is reported in one line with its path and the reason, without a traceback."""
    path = unreadable(tmp_path, model)[kind]
    code, out, err = output(capsys, command, path, *([model] if command == "diff" else []))
    if (command, kind) in (("info", "newer"), ("check", "newer")):  # the message contains the unsupported version
        assert "99" in out + err
        return
    if (command, kind) == ("diff", "newer"):  # `diff` compares the code before it creates the model
        assert code == 2 and "99" in err
        return
    assert (code, out) == (2 if command == "diff" else 1, "")
    assert err.startswith(f"cannot read {path}: ") and err.count("\n") == 1 and len(err) < 400


def test_pickled_calls_are_rejected(tmp_path, capsys):
    """A pickle that calls functions is rejected by all commands."""
    import pickle

    class Malicious:
        def __reduce__(self):
            return print, ("it ran",)

    path = tmp_path / "evil.pt"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("evil/data.pkl", pickle.dumps(Malicious(), protocol=2))
        file.writestr("evil/constants.pkl", pickle.dumps((), protocol=2))
        file.writestr("evil/version", "3\n")
    out = tmp_path / "out.pt"
    for command in (["run", path], ["info", path], ["check", path], ["convert", path, out]):
        _, shown, err = output(capsys, *command)
        assert "it ran" not in shown and "print" in shown + err
    with zipfile.ZipFile(path, "w") as file:  # a file of `torch.save`
        file.writestr("evil/data.pkl", pickle.dumps(Malicious(), protocol=2))
    code, shown, err = output(capsys, "convert", path, out)
    assert (code, shown) == (1, "") and err.startswith(f"cannot read {path}: ") and err.count("\n") == 1
    assert not out.exists()


# ---- inspection of archives --------------------------------------------------------------------------


def test_info(model, capsys):
    code, out, err = output(capsys, "info", model)
    assert (code, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0].startswith(f"file         {model}, ")
    for line in [
        "producer     ts",
        "extra files  labels.txt",
        "model        Net",
        "forward(Tensor x, int n=2) -> Tensor",
        "again(int n) -> int",
        "x: Tensor (float32, last dimension 3, from linear head.fc.weight)",
        "n: int = 2",
        "8 in 2 tensors, 32 bytes",
        "weight  float32[2, 3]",
        "2 in 1 tensor, 8 bytes",
        "aten::linear  1",
        "missing      nothing",
    ]:
        assert line in lines, out
    assert out.index("head\n") < out.index("fc\n") < out.index("weight  ")


class Sizes(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(4, 3, dtype=ts.float64)
        self.convolution = ts.nn.Conv2d(6, 8, 3, groups=2)
        self.embedding = ts.nn.Embedding(10, 4)

    def forward(self, direct, image, doubled, maybe, written, word: str, flag: bool = False):
        y = self.linear(direct).sum() + self.convolution(image).sum() + self.linear(doubled * 2).sum() + len(word)
        if flag:
            y = y + self.linear(maybe).sum()
        return y + self.linear(written.unsqueeze_(0)).sum() + self.linear(written).sum()


def test_inferred_inputs_of_forward(tmp_path, capsys):
    """Inputs of `forward` are described if the weights determine them."""
    scripted, traced, frozen = (tmp_path / name for name in ("scripted.pt", "traced.pt", "frozen.pt"))
    ts.jit.save(ts.jit.script(Sizes().eval()), scripted)
    ts.jit.save(ts.jit.trace(ts.nn.Embedding(10, 4), ts.tensor([1])), traced)
    ts.jit.save(ts.jit.freeze(ts.jit.script(ts.nn.Sequential(ts.nn.Linear(4, 3)).eval())), frozen)
    inputs = []
    for path in (scripted, traced, frozen):
        code, out, _ = output(capsys, "info", path)
        assert code == 0
        section = out[out.index("\ntakes") + 6 : out.index("\nparameters")]
        inputs.append([line.strip() for line in section.strip().splitlines()])
    assert inputs == [
        [
            "direct: Tensor (float64, last dimension 4, from linear linear.weight)",
            "image: Tensor (float32, dimension -3 is 6, from conv2d convolution.weight)",
            "doubled: Tensor", "maybe: Tensor", "written: Tensor", "word: str", "flag: bool = False",
        ],
        ["input: Tensor (integers below 10, from embedding weight)"],
        ["input: Tensor (float32, last dimension 4, from linear of a constant)"],
    ]  # fmt: skip


def test_control_characters_in_names_are_escaped(net, tmp_path, capsys):
    """Control characters in names of an archive are escaped in the output."""
    path = tmp_path / "steering.pt"
    ts.jit.save(ts.jit.script(net), path, {"\x1b[2J\x9bx": "a"})
    code, out, _ = output(capsys, "info", path)
    assert code == 0 and "extra files  \\x1b[2J\\x9bx\n" in out
    code, _, err = output(capsys, "run", f"{path}:\x1b[31m")
    assert code == 2 and "\x1b" not in err


def test_info_lists_missing_operators(model, tmp_path, capsys):
    """`info` lists missing operators with their source locations, and the rest of the archive."""
    path = tmp_path / "missing.pt"
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            code = old.read(entry).replace(b") -> Tensor:", b"):")  # so that bodies contain the return statements
            new.writestr(entry, code.replace(b"torch.linear", b"torch.nilear"))
    code, out, _ = output(capsys, "info", path)
    assert code == 0
    assert (
        "forward: does not compile" in out
        and "operator aten::nilear" in out
        and "code/__torch__/" in out
        and "8 in 2 tensors" in out
    )
    code, out, err = output(capsys, "check", path)
    assert code == 1 and "operator aten::nilear: missing" in err


def test_stages(model, capsys):
    """The commands for graph, code and bytecode accept a model, its methods and its submodules."""
    assert "prim::CallMethod" in output(capsys, "graph", model)[1]
    assert "prim::Loop" in output(capsys, "graph", f"{model}:again")[1]
    assert "torch.linear(" in output(capsys, "code", f"{model}:head.fc")[1]
    assert "return" in output(capsys, "bytecode", f"{model}:again")[1].lower()


def test_diff(net, model, tmp_path, capsys):
    """`diff` prints nothing and returns 0 for equal archives; otherwise it prints differing code and tensors
    with their differences."""
    other = tmp_path / "other.pt"
    ts.jit.save(ts.jit.script(net), other)
    assert output(capsys, "diff", model, other) == (0, "", "")
    with ts.no_grad():
        net.head.fc.weight[0, 1] += 0.5
    net.scale = ts.ones(3)
    net.register_buffer("more", ts.zeros(1))
    ts.jit.save(ts.jit.script(net), other)
    code, out, _ = output(capsys, "diff", model, other, "--weights")
    assert code == 1
    assert sorted(out.splitlines()) == [
        "head.fc.weight: 1 of 6 elements differ, by at most 0.5",
        f"more: float32[1] only in {other}",
        "scale: changed from float32[2] to float32[3]",
    ]
    code, out, _ = output(capsys, "diff", model, other, "--code")
    assert code == 1 and out.startswith(f"--- {model}:code/__torch__/") and "\n+    more: Tensor\n" in out
    assert output(capsys, "diff", model, other)[0] == 1


# ---- convert -----------------------------------------------------------------------------------------


def values(capsys, model: Path, x: Path, folder: Path) -> list[list[float]]:
    assert output(capsys, "run", model, x, "-o", folder / "values.npy") == (0, "", "")
    return np.load(folder / "values.npy").tolist()


@pytest.mark.parametrize("options", [[], ["--strip-debug"], ["--freeze"], ["--freeze", "--strip-debug"]])
def test_convert_archives(net, model, x, tmp_path, capsys, options):
    """Converted archives return equal results and keep extra files; options remove debug records or freeze
    the module."""
    output_path = tmp_path / "made.pt"
    assert output(capsys, "convert", model, output_path, *options)[:2] == (0, "")
    assert np.allclose(values(capsys, output_path, x, tmp_path), expected(net))
    with zipfile.ZipFile(output_path) as file:
        names = file.namelist()
        assert file.read("made/extra/labels.txt") == b"cat\ndog"
    assert any(name.endswith(".debug_pkl") for name in names) == ("--strip-debug" not in options)
    assert any(name.startswith("made/constants/") for name in names) == ("--freeze" in options)
    assert len(list(ts.jit.load(output_path).parameters())) == (0 if "--freeze" in options else 2)


def test_convert_preserves_methods(model, tmp_path, capsys):
    """`--keep` preserves methods during freezing."""
    output_path = tmp_path / "made.pt"
    assert output(capsys, "convert", model, output_path, "--freeze", "--keep", "again")[0] == 0
    assert output(capsys, "run", f"{output_path}:again", "0")[1] == "0\n"
    assert output(capsys, "run", f"{output_path}:parts", "[1.0]")[0] == 2
    code, _, err = output(capsys, "convert", model, output_path, "--freeze", "--keep", "absent")
    assert code == 1 and "cannot freeze" in err and "absent" in err


def test_convert_weights(net, model, x, tmp_path, capsys):
    """Weights are converted to safetensors and back, into a dictionary and into a model."""
    pytest.importorskip("safetensors")
    with ts.no_grad():
        net.head.fc.weight.zero_()
    other, weights, state, tuned = (tmp_path / n for n in ("other.pt", "w.safetensors", "w.pt", "tuned.pt"))
    ts.jit.save(ts.jit.script(net), other)
    assert output(capsys, "convert", other, weights)[:2] == (0, "")
    assert output(capsys, "convert", weights, state)[:2] == (0, "")
    assert {n: v.tolist() for n, v in ts.load(state).items()} == {
        n: v.tolist() for n, v in net.state_dict().items()
    }
    for source in (weights, state):
        assert output(capsys, "convert", source, tuned, "--into", model)[:2] == (0, "")
        assert np.allclose(values(capsys, tuned, x, tmp_path), expected(net))
    nested = tmp_path / "nested.pt"
    ts.save({"model": {"w": ts.ones(2)}, "epoch": 3}, nested)
    code, _, err = output(capsys, "convert", nested, weights)
    assert code == 0 and "omitted entries that are not tensors: epoch" in err
    assert output(capsys, "convert", weights, state)[0] == 0
    assert list(ts.load(state)) == ["model.w"]
    code, _, err = output(capsys, "convert", weights, tuned, "--into", model)
    assert code == 1 and "cannot load the weights of" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{m}", "w.safetensors", "--freeze"], "require an archive as the output"),
        (["{m}", "out.pt", "--into", "{m}"], "--into requires an archive as the output, and weights"),
        (["{m}", "out.pt", "--keep", "f"], "--keep requires --freeze"),
        (["absent.pt", "out.pt"], "no such file"),
        (["{m}", "out.onnx"], "got out.onnx"),
    ],
)
def test_convert_rejects(model, capsys, arguments, message):
    code, _, err = output(capsys, "convert", *[a.format(m=model) for a in arguments])
    assert code == 2 and message in err


def test_a_file_that_cannot_be_written(model, x, tmp_path, capsys):
    """An unwritable output is reported in one line, and existing files are unchanged."""
    target = tmp_path / "absent" / "out.pt"
    code, _, err = output(capsys, "convert", model, target)
    assert code == 1 and err.startswith(f"cannot write {target}: ") and err.count("\n") == 1
    code, _, err = output(capsys, "run", model, x, "-o", tmp_path / "absent" / "y.npy")
    assert code == 1 and "cannot write" in err and err.count("\n") == 1
