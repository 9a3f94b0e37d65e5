"""Code of archives, other processes and playground programs cannot write files unless the user lists `aten::save`."""

import io
import zipfile

import pytest

import ts
from tests.untrusted_input.handcrafted_archives import archive, module
from ts.archive.module_reader import read
from ts.distributed.rpc.callable_registry import ReceivedCode
from ts.errors import ArchiveError, CompilationError
from ts.frontend.load_policy import DEFAULT, UNRESTRICTED, LoadPolicy
from ts.runtime import code_cache
from ts.serve.sandboxed_program import report


def saving_archive(path, body="torch.save(x, '{path}')\nreturn x", definitions=""):
    return archive(module(body.replace("{path}", str(path)), definitions.replace("{path}", str(path)), parameters=", x: Tensor"))


BODIES = [
    ("torch.save(x, '{path}')\nreturn x", ""),
    ("ops.aten.save(x, '{path}')\nreturn x", ""),
    ("torch . save(x, '{path}')\nreturn x", ""),
    ("if torch.__is__(x, x):\n  pass\nelse:\n  torch.save(x, '{path}')\nreturn x", ""),
    ("def task(x: Tensor):\n  torch.save(x, '{path}')\n  return x\nf = fork(task, x)\nreturn torch.wait(f)", ""),
    ("_0 = __torch__.helper(x)\nreturn x", "def helper(x: Tensor):\n  torch.save(x, '{path}')\n  return None\n"),
]


@pytest.mark.parametrize("options", [{}, {"allowed_ops": "*"}, {"allowed_ops": ["aten::*", "aten::sav[e]"]}, {"allowed_ops": ["aten::relu"]}])  # fmt: skip
@pytest.mark.parametrize(("body", "definitions"), BODIES)
def test_load_refuses_operators_that_write_files(tmp_path, body, definitions, options):
    """The error occurs while the archive is loaded, and names the location in the archive."""
    data = saving_archive(tmp_path / "x.pt", body, definitions)
    with pytest.raises(CompilationError, match=r"the archive uses aten::(save|wait|__is__)") as error:
        ts.jit.load(io.BytesIO(data), **options)
    assert 'File "code/__torch__.py", line' in str(error.value)
    assert "which writes files" in str(error.value) or options == {"allowed_ops": ["aten::relu"]}
    assert list(tmp_path.iterdir()) == []


def test_state_method_cannot_write(tmp_path):
    """`__setstate__` runs while the archive is loaded."""
    path = tmp_path / "x.pt"
    source = module("return 1", attributes="a : int") + (
        f"  def __setstate__(self: __torch__.M, state: int) -> NoneType:\n    torch.save(state, '{path}')\n    self.a = state\n    return None\n"
    )
    with pytest.raises(CompilationError, match="the archive uses aten::save, which writes files"):
        ts.jit.load(io.BytesIO(archive(source, b"\x80\x02c__torch__\nM\n)\x81K\x05b.")))
    assert not path.exists()


def test_function_compiled_after_loading_cannot_write(tmp_path):
    """A function that the module does not call is compiled and checked when it is first called."""
    path = tmp_path / "x.pt"
    source = module("return x", parameters=", x: Tensor") + f"def late():\n  torch.save(1, '{path}')\n  return None\n"
    loaded = ts.jit.load(io.BytesIO(archive(source)))
    late = loaded._concrete.type.methods["forward"].definition().resolver.find("__torch__.late")
    with pytest.raises(CompilationError, match="the archive uses aten::save, which writes files"):
        late()
    assert not path.exists()


@pytest.mark.parametrize("allowed_ops", [["*", "aten::save"], ["aten::save"]])
def test_listed_operator_is_allowed(tmp_path, allowed_ops):
    path = tmp_path / "x.pt"
    loaded = ts.jit.load(io.BytesIO(saving_archive(path)), allowed_ops=allowed_ops)
    loaded(ts.ones(2))
    assert ts.load(path).tolist() == [1.0, 1.0]


def test_missing_reports_the_operator(tmp_path):
    (feature,) = ts.jit.missing(io.BytesIO(saving_archive(tmp_path / "x.pt")))
    assert feature.kind == "code" and "the archive uses aten::save, which writes files" in feature.name
    assert feature.locations == ("code/__torch__.py:5",)


def test_methods_named_save_are_not_refused():
    """Only the operator is refused: other names `save` compile."""
    source = module("_0 = (self).save(x)\nreturn _0", parameters=", x: Tensor")
    source += "  def save(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.relu(x)\n"
    assert ts.jit.load(io.BytesIO(archive(source)))(-ts.ones(1)).tolist() == [0.0]


def test_own_modules_can_be_pickled(tmp_path):
    """Pickles run code of their own, and are trusted."""
    import pickle

    unit = ts.jit.CompilationUnit("def f(x: int, path: str):\n  torch.save(x, path)\n  return x")
    path = tmp_path / "x.pt"
    assert pickle.loads(pickle.dumps(unit.f))(3, str(path)) == 3 and ts.load(path) == 3


def test_cached_code_of_a_trusted_archive_is_not_used(tmp_path, monkeypatch):
    """The code cache separates the code of trusted and untrusted archives with the same contents."""
    monkeypatch.setenv("TS_CACHE", str(tmp_path / "cache"))
    data = archive(module("return torch.relu(x)", parameters=", x: Tensor"))
    keys = set()
    for policy in (UNRESTRICTED, DEFAULT):
        function = read(io.BytesIO(data), policy=policy).cls.type.methods["forward"]
        keys.add(code_cache._digest(function))
    assert len(keys) == 2 and None not in keys


@pytest.mark.parametrize("allowed_ops", [None, ["aten::*"]])
def test_rpc_refuses_the_operator(tmp_path, allowed_ops):
    received = ReceivedCode(allow_python=False, policy=LoadPolicy(None, allowed_ops))
    with pytest.raises(PermissionError, match="the operator aten::save is not allowed"):
        received.find(("operator", "aten::save"))
    with pytest.raises(PermissionError, match="the operator aten::save is not allowed"):
        received.find(("overload", "aten::save", ""))
    assert ReceivedCode(False, LoadPolicy(None, ["aten::save"])).find(("operator", "aten::save"))


@pytest.mark.parametrize("call", ["torch.save(x, '{path}')", "torch.ops.aten.save(x, '{path}')"])
def test_playground_refuses_the_operator(tmp_path, call):
    path = tmp_path / "x.pt"
    found = report(f"def f(x: int) -> int:\n    {call.format(path=path)}\n    return x\n", "f(1)", seconds=10.0, bytes=1 << 28)
    assert found["error"]["line"] == 2 and not path.exists()


def test_exported_programs_cannot_call_the_operator(tmp_path):
    """A `.pt2` file whose graph names `aten::save` is rejected."""

    class Net(ts.nn.Module):
        def forward(self, x):
            return x.relu()

    original, changed = io.BytesIO(), io.BytesIO()
    ts.export.save(ts.export.export(Net(), (ts.ones(2),)), original)
    with zipfile.ZipFile(original) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"torch.ops.aten.relu.default", b"torch.ops.aten.save.default"))
    changed.seek(0)
    with pytest.raises(ArchiveError, match="calls the operator aten::save, which writes files"):
        ts.export.load(changed)
