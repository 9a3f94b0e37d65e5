"""`ts.jit.missing`: requirements of an archive that `ts` lacks, with locations, without running code."""

import io
import zipfile

import pytest

import ts
from tests.test_archives import rewritten
from tests.untrusted_input.handcrafted_archives import archive, module, state, text
from ts.errors import ArchiveError

FILE = "code/__torch__.py"
HEAD = 4  # line number of `def forward` in a module without attributes


def missing(source, data=None, **records):
    return ts.jit.missing(io.BytesIO(rewritten(archive(source, data), **records)))


def missing_records(source, data=None, **records):
    return [(each.kind, each.name, list(each.locations)) for each in missing(source, data, **records)]


def test_complete_archive():
    """A complete archive has no missing names."""
    assert missing(module("return torch.relu(x)", parameters=", x: Tensor")) == []
    assert ts.jit.missing(io.BytesIO(ts.jit.script(ts.nn.LSTM(2, 3)).save_to_buffer())) == []


def test_paths(tmp_path):
    path = tmp_path / "model.pt"
    ts.jit.script(ts.nn.Linear(2, 3)).save(path)
    assert ts.jit.missing(path) == []
    assert ts.jit.missing(str(path)) == []
    with pytest.raises(ValueError, match="does not exist"):
        ts.jit.missing(tmp_path / "none.pt")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return torch.frobnicate(x)", [("operator", "aten::frobnicate", [1])]),
        ("return ops.my.op(x)", [("operator", "my::op", [1])]),
        ("y = ops.my.op(torch.frob(x))\nreturn ops.my.op(y)", [("operator", "my::op", [1, 2]), ("operator", "aten::frob", [1])]),
        ("return ops.prim.nonsense(x)", [("operator", "prim::nonsense", [1])]),
        ("return torch.relu(x, 'text')", [("overload", "aten::relu", [1])]),
        ("y = torch.relu(x)\nreturn torch.add(y, x, x, x)", [("overload", "aten::add", [2])]),
        ("return __torch__.other.f(x)", [("class", "__torch__.other.f", [1])]),
        (
            "y = __torch__.torch.classes.my.Thing.__new__(__torch__.torch.classes.my.Thing)\nreturn x",
            [("class", "__torch__.torch.classes.my.Thing", [1])],
        ),
        ("return annotate(__torch__.torch.classes.my.Thing, x)", [("class", "__torch__.torch.classes.my.Thing", [1])]),
        (
            "y = annotate(List[__torch__.torch.classes.__backends__.nnapi], [])\nreturn x",
            [("backend", "nnapi", [1])],
        ),
        ("return unknown(x)", [("code", "undefined value unknown", [1])]),
        ("if torch.dim(x):\n  y = ops.my.op(x)\nelse:\n  y = x\nreturn y", [("operator", "my::op", [2])]),
        ("def task():\n  return ops.my.op(x)\nreturn torch.wait(fork(task))", [("operator", "my::op", [2])]),
        ("return self.frobnicate", [("code", "Module 'M' has no attribute 'frobnicate'", [1])]),
    ],
)  # fmt: skip
def test_code(body, expected):
    """Missing names in the code are listed with their lines; calls of existing names are checked against the
    schemas."""
    locations = [(kind, name, [f"{FILE}:{HEAD + line}" for line in lines]) for kind, name, lines in expected]
    assert missing_records(module(body, parameters=", x: Tensor")) == locations


def test_callers_of_broken_functions_are_not_reported():
    """A caller of a function with missing names is not reported; other errors of the caller are."""
    definitions = (
        "def broken(x: Tensor) -> Tensor:\n  return ops.my.op(x)\n"
        "def fine(x: Tensor) -> Tensor:\n  return torch.relu(x, x)\n"
    )
    source = module("return __torch__.broken(__torch__.fine(x))", definitions, parameters=", x: Tensor")
    assert missing_records(source) == [("operator", "my::op", [f"{FILE}:2"]), ("overload", "aten::relu", [f"{FILE}:4"])]


def test_attributes():
    """Missing types of attributes and pickles are listed."""
    thing = "__torch__.torch.classes.my.Thing"
    source = module("return 1", attributes=f"a : {thing}\nb : Tensor")
    pickled = state(
        a=b"c__torch__.torch.classes.my\nThing\n)\x81K\x01b", b=b"ctorch._utils\n_rebuild_sparse_tensor\n)R"
    )
    assert missing_records(source, pickled) == [
        ("class", thing, [f"{FILE}:4", "data.pkl"]),
        ("class", "torch._utils._rebuild_sparse_tensor", ["data.pkl"]),
    ]


def test_constants():
    """Missing classes in constants.pkl are listed; functions are not compiled without their constants."""
    constants = b"\x80\x02ctorch\nBits8Storage\n\x85."
    source = module("return torch.relu(x, CONSTANTS.c0)", parameters=", x: Tensor")
    assert missing_records(source, **{"constants.pkl": constants}) == [("class", "torch.Bits8Storage", ["constants.pkl"])]


def test_versions():
    """A version newer than supported is reported, and so are missing names."""
    source = module("return ops.my.op(x)", parameters=", x: Tensor")
    assert missing_records(source, version=b"11\n") == [
        ("version", "11", ["version"]),
        ("operator", "my::op", [f"{FILE}:5"]),
    ]


def test_former_operators():
    """Operators with another schema in the archive's version are not reported."""
    source = module("return torch.linspace(0, 1)")
    assert missing_records(source, version=b"7\n") == []
    assert missing_records(source, version=b"10\n") == [("overload", "aten::linspace", [f"{FILE}:5"])]


def test_delegates():
    """A module lowered to a backend names the backend in its class."""
    source = (
        "class demoLoweredModule(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
        "  __backend : __torch__.torch.classes.__backends__.demo\n"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as records:
        records.writestr("archive/data.pkl", b"\x80\x02ctorch.jit\ndemoLoweredModule\n)\x81}b.")
        records.writestr("archive/constants.pkl", b"\x80\x02).")
        records.writestr("archive/version", "3")
        records.writestr("archive/code/torch/jit.py", source)
    (only,) = ts.jit.missing(io.BytesIO(out.getvalue()))
    assert (only.kind, only.name, only.locations) == ("backend", "demo", ("code/torch/jit.py:4", "data.pkl"))


def test_no_code_is_executed(capsys):
    """Missing names are found without restoring states or calling functions."""
    source = module("return 1", attributes="a : int") + (
        "  def __setstate__(self: __torch__.M, state: int) -> NoneType:\n"
        "    print('running')\n    self.a = state\n    return None\n"
    )
    data = b"\x80\x02c__torch__\nM\n)\x81K\x05b."
    assert missing_records(source, data) == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("body", "expected"), [("torch.relu(x, 'text')", []), ("torch.frob(x)", ["aten::frob"])])
def test_unreachable_code_files(body, expected):
    """Unreachable code files are not compiled; names missing in them are still listed."""
    data = io.BytesIO(archive(module("return 1")))
    with zipfile.ZipFile(data, "a") as file:
        file.writestr("archive/code/../x.py", f"def f(x: Tensor) -> Tensor:\n  return {body}\n")
    data.seek(0)
    assert [each.name for each in ts.jit.missing(data)] == expected


def test_no_archive():
    """A damaged file, or a file without a module, raises ArchiveError."""
    with pytest.raises(ArchiveError, match="failed reading zip archive"):
        ts.jit.missing(io.BytesIO(b"text"))
    out = io.BytesIO()
    ts.save({}, out)
    with pytest.raises(ArchiveError, match=r"it may have been written by torch\.save"):
        ts.jit.missing(io.BytesIO(out.getvalue()))


def test_texts():
    """An entry lists its first locations; for invalid calls, the reason is the compiler's message."""
    body = "\n".join(["y = ops.my.op(x)"] * 8 + ["return x"])
    (only,) = missing(module(body, parameters=", x: Tensor"))
    assert str(only).split("\n") == ["operator my::op", *(f"    {FILE}:{line}" for line in range(5, 10)), "    and 3 more"]
    (only,) = missing(module("return torch.relu(x, x)", parameters=", x: Tensor"))
    assert str(only) == f"overload aten::relu\n    {FILE}:5"
    assert "aten::relu(Tensor self) -> Tensor" in only.why


def test_texts_of_pickles():
    """Strings in pickles are not reported as missing names."""
    assert missing_records(module("return 1", attributes="a : str"), state(a=text("ctorch\nNothing\n"))) == []
