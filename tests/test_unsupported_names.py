"""Unsupported PyTorch names can be imported and raise an error at their use."""

import subprocess
import sys

import pytest

import ts
from ts.unsupported import api
from ts.unsupported.reasons import AREAS, missing_message
from ts.unsupported.unsupported_names import ANSWERS


@pytest.mark.parametrize(
    ("path", "module_path", "names"),
    [
        ("distributions.normal", "distributions", "Normal constraints"),
        ("distributions.multivariate_normal", "distributions", "MultivariateNormal constraints"),
        ("nn.modules.activation", "nn", "MultiheadAttention Module"),
        ("profiler.profiler", "profiler", "ProfilerAction schedule"),
    ],
)
def test_alias_modules_share_objects(path, module_path, names):
    module, defining_module = (__import__(f"ts.{each}", fromlist=["_"]) for each in (path, module_path))
    assert all(getattr(module, name) is getattr(defining_module, name) for name in names.split())


def test_unknown_names_are_missing():
    for path in ("onnx", "nn.modules.module", "distributions.normal", "_C._nn", "utils"):
        module = __import__(f"ts.{path}", fromlist=["_"])
        assert not hasattr(module, "no_such_name") and not hasattr(module, "__no_such__")


def test_an_alias_is_an_attribute_of_its_package():
    code = "import ts; print(ts.distributions.normal.Normal is ts.distributions.Normal)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


def test_placeholders_can_be_referenced():
    class Program(ts.onnx.ONNXProgram):
        pass

    assert not isinstance(ts.ones(1), ts.onnx.ONNXProgram)
    assert issubclass(Program, ts.onnx.ONNXProgram)
    assert (ts.distributed.tensor.DTensor | None) is not None
    assert ts.ao.quantization.FakeQuantize[int] is ts.ao.quantization.FakeQuantize
    assert isinstance(ts.nn.Linear(1, 1), ts.ao.nn.quantized.Linear | ts.nn.Linear)
    assert repr(ts.export.Constraint) == "<placeholder of torch.export.Constraint>"
    try:
        raise ValueError
    except (ts.onnx.errors.UnsupportedOperatorError, ValueError):
        pass
    with pytest.raises(NotImplementedError):
        Program()


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: ts.onnx.export(1, 2), "torch.onnx.export is not implemented: ts does not have an exporter to ONNX. Save the model with"),
        (lambda: ts.ao.quantization.QConfig(), "does not have quantization tools"),
        (lambda: ts.distributed.TCPStore(), "torch.distributed.TCPStore is not implemented in ts. docs/how-to/train-on-several-processes.md"),
        (lambda: ts._inductor.compile(1), "`ts.jit.script` and `ts.jit.trace` compile"),
        (lambda: ts.SymIntType(1), "torch.SymIntType is not implemented in ts. docs/reference/known-issues.md"),
        (lambda: ts.onnx.TrainingMode.EVAL(), "torch.onnx.TrainingMode.EVAL is not implemented"),
    ],
)
def test_use_is_rejected(use, message):
    with pytest.raises(NotImplementedError) as error:
        use()
    assert message in str(error.value)


def test_unknown_names_raise():
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


def test_decorators_return_their_function(monkeypatch):
    """Decorators of compilers return the function; settings of the compilers can be set."""
    def f(x):
        return x

    assert ts.onnx.symbolic_helper.parse_args("v", "v")(f) is f
    assert ts._dynamo.disable(f) is f and not ts._dynamo.is_compiling()
    monkeypatch.setattr(ts._dynamo.config, "suppress_errors", True)
    monkeypatch.setattr(ts._inductor.config.triton, "unique_kernel_names", True)


def test_placeholders_are_stable():
    """Placeholders for unsupported names are identical objects under all their paths."""
    assert ts.onnx.OnnxExporterError is ts.onnx.errors.OnnxExporterError
    assert ts.quantization.QConfig is ts.ao.quantization.QConfig is ts.ao.quantization.qconfig.QConfig
    from ts.unsupported import placeholders

    assert placeholders.attribute("ts.onnx", "export") is ts.onnx.export
    assert ts.onnx.TrainingMode.EVAL is ts.onnx.TrainingMode.EVAL


def test_placeholder_errors_have_pytorchs_bases():
    assert issubclass(ts.onnx.errors.OnnxExporterError, RuntimeError)
    assert issubclass(ts._dynamo.exc.BackendCompilerFailed, Exception)
    with pytest.raises(ts.onnx.errors.OnnxExporterError):
        raise ts.onnx.errors.OnnxExporterError("text")


def test_a_placeholder_class_may_be_one_base_of_several():
    from abc import ABC

    class Mixed(ts.distributed.fsdp.FullyShardedDataParallel, ts.nn.Module, ABC):
        pass

    with pytest.raises(NotImplementedError, match="does not have sharded parameters"):
        Mixed()


def test_modules_named_like_functions():
    """Importing a module does not replace the function of the same name in its package."""
    code = (
        "import ts.nn.utils.weight_norm\n"
        "from ts.nn.utils.spectral_norm import SpectralNorm\n"
        "from ts.nn.parallel.data_parallel import DataParallel\n"
        "import ts\n"
        "assert DataParallel is ts.nn.DataParallel\n"
        "print(type(ts.nn.utils.weight_norm), type(ts.nn.utils.spectral_norm))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "<class 'function'> <class 'function'>\n"


def test_submodules_of_single_file_modules():
    from ts.accelerator.memory import memory_allocated
    from ts.signal.windows.windows import hann

    assert callable(memory_allocated) and hann is ts.signal.windows.hann


def test_module_with_two_paths_is_one_object():
    from ts.distributed._tensor import experimental

    assert experimental is ts.distributed.tensor.experimental
    assert experimental.__spec__.name == "ts.distributed.tensor.experimental"


def test_star_import_gives_the_declared_names():
    names = {}
    exec("from ts.onnx import *", names)
    assert names["export"] is ts.onnx.export and "torch" not in names


def test_error_messages_name_alternatives():
    """Error messages name what is missing and an alternative."""
    for path, area in AREAS.items():
        assert area.instead.endswith(".") and not area.missing.endswith(".")
        assert api.is_module(path) or "." not in path, path
        text = missing_message(f"{path}.x")
        assert " not implemented: ts does not have " in text or " not implemented in ts. " in text


def test_the_table_is_not_imported_with_ts():
    code = "import sys, ts; ts.ones(2); assert not [m for m in sys.modules if m.startswith('ts.unsupported.')]"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_operators_are_reachable_through_the_private_module():
    from ts import _ops

    assert _ops.ops is ts.ops
