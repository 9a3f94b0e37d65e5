"""`import torch` gives `ts` where a program asked for it: each program here runs in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

from ts.torch_version import TorchVersion


def run(program: str, *arguments: str) -> str:
    found = subprocess.run(
        [sys.executable, *arguments, "-c", textwrap.dedent(program)] if not arguments else [sys.executable, *arguments],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_modules_are_the_same():
    run(
        """
        import ts
        ts.install_as_torch()
        ts.install_as_torch()
        import torch, torch.nn.functional as F, torch.utils.data, torch.onnx
        from torch import nn
        from torch.nn.modules.linear import Linear
        assert torch is ts and F is ts.nn.functional and nn is ts.nn and Linear is ts.nn.Linear
        assert F.__spec__.name == "ts.nn.functional" and torch.__name__ == "ts"
        assert torch.Tensor is ts.Tensor and torch.ones(2).sum() == 2
        import importlib.util
        assert importlib.util.find_spec("torch") is not None and importlib.util.find_spec("torch.nn") is not None
        """
    )


def test_the_version_is_pytorchs():
    run(
        """
        import importlib.metadata, ts
        ts.install_as_torch()
        import torch
        assert torch.__version__.startswith("2.13.0") and torch.__version__ >= (2, 1)
        assert not torch.__version__ < "2.9" and torch.__version__ == importlib.metadata.version("torch")
        assert importlib.metadata.distribution("torch").metadata["Name"] == "torch"
        assert importlib.metadata.version("numpy") != torch.__version__
        """
    )


def test_missing_modules_are_named():
    run(
        """
        import ts
        ts.install_as_torch()
        try:
            import torch.no_such_module
        except ModuleNotFoundError as error:
            assert "No module named 'torch.no_such_module'" in str(error) and error.name == "torch.no_such_module"
        else:
            raise AssertionError
        """
    )


def test_another_torch_is_refused():
    run(
        """
        import sys, types, ts
        sys.modules["torch"] = types.ModuleType("torch")
        try:
            ts.install_as_torch()
        except RuntimeError as error:
            assert "PyTorch is imported already" in str(error)
        else:
            raise AssertionError
        """
    )


def test_programs_run(tmp_path):
    (tmp_path / "helper.py").write_text("import torch\nx = torch.ones(3)\n")
    program = tmp_path / "program.py"
    program.write_text("import sys, torch, helper\nprint(__name__, sys.argv[1:], helper.x.sum().item(), torch.__version__)\n")
    assert run("", "-m", "ts.as_torch", str(program), "a", "b").startswith("__main__ ['a', 'b'] 3.0 2.13.0")
    assert "usage" in run("", "-m", "ts.as_torch", "--help")


@pytest.mark.parametrize("other", ["2.9", "2.13", (2, 13), (1, 99, 7), "2.13.0a0"])
def test_versions_compare(other):
    version = TorchVersion("2.13.0+ts0.1.0")
    assert version >= other and not version < other
    assert (version == other) == (str(other).startswith("2.13") or other == (2, 13))
    assert version <= "10.0" and version != "3" and version > "2.2.1"
    with pytest.raises(TypeError):
        version < object()
