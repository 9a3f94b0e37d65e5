"""`import torch` imports `ts` after `install_as_torch`, tested in new processes."""

import subprocess
import sys
import textwrap

import pytest

from ts.torch_version import TorchVersion


def run(program: str, *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, *arguments, "-c", textwrap.dedent(program)] if not arguments else [sys.executable, *arguments],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


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
        assert F.__spec__.name == "ts.nn.functional" and torch.__name__ == "torch"
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


def test_another_torch_is_rejected():
    run(
        """
        import sys, types, ts
        sys.modules["torch"] = types.ModuleType("torch")
        try:
            ts.install_as_torch()
        except RuntimeError as error:
            assert "PyTorch is already imported" in str(error)
        else:
            raise AssertionError
        """
    )


def test_programs_run(tmp_path):
    (tmp_path / "helper.py").write_text("import torch\nx = torch.ones(3)\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, torch, helper\nprint(__name__, sys.argv[1:], helper.x.sum().item(), torch.__version__)\n"
    )
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


def test_modules_classes_and_functions_have_pytorchs_names():
    """Public names have PyTorch's `__name__` and `__module__`, for modules imported before and after
    `install_as_torch`."""
    run(
        """
        import ts, ts.nn
        ts.install_as_torch()
        import torch, torch.optim, torch.distributions, torch.autograd.graph
        assert torch.__name__ == "torch" and torch.nn.functional.__name__ == "torch.nn.functional"
        assert type(torch.ones(1)).__module__ == "torch" and repr(torch.Tensor) == "<class 'torch.Tensor'>"
        assert torch.device.__module__ == torch.Size.__module__ == torch.is_tensor.__module__ == "torch"
        assert torch.manual_seed.__module__ == "torch.random"
        assert torch.nn.Linear.__module__ == "torch.nn.modules.linear"
        assert torch.nn.functional.relu.__module__.startswith("torch.nn.functional")
        assert type(torch.distributions.constraints.positive).__module__ == "torch.distributions.constraints"
        assert torch.autograd.graph.Node.__module__ == "torch.autograd.graph"
        assert torch.futures.Future.__module__ == "torch.futures"
        """
    )


def test_renamed_classes_are_scripted_saved_and_pickled(tmp_path):
    program = tmp_path / "program.py"  # `inspect` reads the source of scripts from files
    text = """
        import ts
        ts.install_as_torch()
        import copy, io, pickle, torch, torch.fx

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

            def forward(self, x):
                with torch.no_grad():
                    y = torch.nn.functional.relu(self.inner(x))
                return torch.cat([y, torch.ones(1, 2, device=torch.device("cpu"))])

        net, x = Net(), torch.ones(1, 2)
        scripted = torch.jit.script(net)
        buffer = io.BytesIO()
        torch.jit.save(scripted, buffer)
        buffer.seek(0)
        assert torch.equal(torch.jit.load(buffer)(x), net(x))
        assert "__torch__.torch.nn.modules.linear.Linear" in str(torch.jit.script(net.inner).graph)
        buffer = io.BytesIO()
        torch.save(net.inner, buffer)
        buffer.seek(0)
        assert torch.equal(torch.load(buffer, weights_only=False)(x), net.inner(x))
        assert torch.equal(pickle.loads(pickle.dumps(net.inner))(x), copy.deepcopy(net.inner)(x))
        assert pickle.loads(pickle.dumps([torch.float32, torch.device("cpu"), torch.Size([1])]))[0] is torch.float32
        traced = torch.fx.symbolic_trace(net.inner)
        assert torch.equal(traced(x), net.inner(x))
        assert repr(net.inner[0]) == "Linear(in_features=2, out_features=2, bias=True)"
        """
    program.write_text(textwrap.dedent(text))
    run(f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')")


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("installed_by", ["module", "package"])
def test_child_processes_import_torch(tmp_path, method, installed_by):
    """Child processes can import `torch` for every start method."""
    text = f"""
        import sys
        import torch
        import torch.multiprocessing as mp

        def work(index, total, factor):
            total += factor * (index + 1)
            assert torch.__name__ == "torch" and sys.argv[1:] == ["3"]

        if __name__ == "__main__":
            total = torch.zeros(2).share_memory_()
            mp.start_processes(work, args=(total, int(sys.argv[1])), nprocs=1, start_method={method!r})
            print(total.tolist())
        """
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    if installed_by == "module":
        assert run("", "-m", "ts.as_torch", str(program), "3") == "[3.0, 3.0]\n"
    else:
        starter = tmp_path / "starter.py"
        starter.write_text(
            "import runpy, sys, ts\nif __name__ == '__main__':\n"
            f"    ts.install_as_torch()\n    runpy.run_path({str(program)!r}, run_name='__main__')\n"
        )
        assert run("", str(starter), "3") == "[3.0, 3.0]\n"


def test_optimizers_reject_sparse_gradients():
    """Errors for sparse gradients name the optimizer with its `torch.optim` module."""
    run(
        """
        import ts
        ts.install_as_torch()
        import torch
        table = torch.nn.Embedding(4, 2, sparse=True)
        table(torch.tensor([1])).sum().backward()
        try:
            torch.optim.Adam(table.parameters()).step()
        except RuntimeError as error:
            assert str(error) == "Adam does not support sparse gradients, please consider SparseAdam instead"
        else:
            raise AssertionError
        """
    )


def test_the_version_of_ts_itself():
    import ts

    assert ts.__version__ == ts.version.__version__ == f"2.13.0+ts{ts.version.ts}"
    assert ts.__version__ >= (2, 0) and ts.__version__ < "3"
    assert isinstance(ts.__version__, ts.torch_version.TorchVersion)


def test_scripts_use_context_managers_of_torch(tmp_path):
    """The script classes of `record_function` and `autocast` compile although their modules are named `torch...`."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import ts
            ts.install_as_torch()
            import torch

            @torch.jit.script
            def labelled(x: torch.Tensor) -> torch.Tensor:
                with torch.profiler.record_function("outer"):
                    with torch.autograd.profiler.record_function("inner", "detail") as inner, torch.no_grad():
                        with torch.autocast("cpu"):
                            x = x * 2
                return x

            assert labelled(torch.ones(1)).tolist() == [2.0]
            assert "__torch__.torch.autograd.profiler.record_function" in str(labelled.graph)
            """
        )
    )
    run("", str(program))
