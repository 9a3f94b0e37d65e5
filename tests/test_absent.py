"""What PyTorch has and `ts` has not imports, and refuses when it is used."""

import subprocess
import sys

import pytest

import ts
from ts.absent.aliases import ALIASES
from ts.absent.areas import AREAS
from ts.absent.names import ANSWERS, NAMES
from ts.absent.placeholders import MODULES


@pytest.mark.parametrize("path", sorted(MODULES))
def test_modules_import(path):
    module = __import__(f"ts.{path}", fromlist=["_"]) if path else ts
    for name in NAMES.get(path, "").split():
        assert name in dir(module) or module.__spec__.loader.__class__.__name__ == "SourceFileLoader"
        assert hasattr(module, name), name
    assert not hasattr(module, "__no_such__")
    if path in NAMES:
        assert not hasattr(module, "no_such_name")


@pytest.mark.parametrize("path", sorted(ALIASES))
def test_aliases_have_the_objects_of_their_homes(path):
    home, names = ALIASES[path]
    module = __import__(f"ts.{path}", fromlist=["_"])
    place = __import__(f"ts.{home}".rstrip("."), fromlist=["_"])
    assert module.__all__ == list(names)
    assert all(getattr(module, name) is getattr(place, name) for name in names)


def test_an_alias_is_an_attribute_of_its_package():
    code = "import ts; print(ts.distributions.normal.Normal is ts.distributions.Normal)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


def test_a_placeholder_may_be_mentioned():
    class Program(ts.onnx.ONNXProgram):
        pass

    assert not isinstance(ts.ones(1), ts.onnx.ONNXProgram)
    assert issubclass(Program, ts.onnx.ONNXProgram)
    assert (ts.distributed.tensor.DTensor | None) is not None
    assert ts.ao.quantization.QConfig[int] is ts.ao.quantization.QConfig
    assert repr(ts.export.Constraint) == "<placeholder of torch.export.Constraint>"
    try:
        raise ValueError
    except (ts.onnx.errors.UnsupportedOperatorError, ValueError):
        pass
    with pytest.raises(NotImplementedError):
        Program()


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda: ts.onnx.export(1, 2), "torch.onnx.export is not there: ts has no export to ONNX. Save the model with"),
        (lambda: ts.ao.quantization.QConfig(), "no tools for quantization"),
        (lambda: ts.distributed.TCPStore(), "torch.distributed.TCPStore is not there"),
        (lambda: ts._inductor.compile(1), "`ts.jit.script` and `ts.jit.trace` compile"),
        (lambda: ts.SymIntType(1), "torch.SymIntType is not there"),
        (lambda: ts.onnx.TrainingMode.EVAL(), "torch.onnx.TrainingMode.EVAL is not there"),
    ],
)
def test_use_is_refused(use, says):
    with pytest.raises(NotImplementedError) as error:
        use()
    assert says in str(error.value)


def test_other_names_are_errors():
    with pytest.raises(AttributeError, match=r"module 'ts.onnx' has no attribute 'exprot'"):
        ts.onnx.exprot
    with pytest.raises(ImportError, match=r"No module named 'ts.onnxx'"):
        __import__("ts.onnxx")
    with pytest.raises(AttributeError):
        ts.no_such_thing


def test_known_answers():
    for path, answer in ANSWERS.items():
        module, _, name = path.rpartition(".")
        assert getattr(__import__(f"ts.{module}", fromlist=["_"]), name)() is answer


def test_marks_give_back_what_they_mark():
    def f(x):
        return x

    assert ts.onnx.symbolic_helper.parse_args("v", "v")(f) is f
    assert ts._dynamo.disable(f) is f and not ts._dynamo.is_compiling()
    ts._dynamo.config.suppress_errors = True
    ts._inductor.config.triton.unique_kernel_names = True


def test_areas_cover_all():
    """Each area says what is missing and what to do, and there is one for every module of the table."""
    for area in AREAS.values():
        assert area.missing and area.instead.endswith(".")
    tops = {path.partition(".")[0] for path in NAMES if path}
    assert tops - {path.partition(".")[0] for path in AREAS} <= set()


def test_the_table_is_not_imported_with_ts():
    code = "import sys, ts; ts.ones(2); assert not [m for m in sys.modules if m.startswith('ts.absent.')]"
    subprocess.run([sys.executable, "-c", code], check=True)
