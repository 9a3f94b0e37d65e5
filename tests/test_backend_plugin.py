"""The third-party backend in examples/backend_plugin, installed as users install it and found by its entry point."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "examples" / "backend_plugin"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run code with the plug-in installed in a separate folder: its package and the metadata that pip writes."""
    target = tmp_path_factory.mktemp("installed")
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())
    for package in project["tool"]["setuptools"]["packages"]:
        shutil.copytree(PLUGIN / package, target / package, ignore=shutil.ignore_patterns("__pycache__"))
    about, name = project["project"], project["project"]["name"].replace("-", "_")
    info = target / f"{name}-{about['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    )
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items())
        for group, entries in about["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))

    def run(code):
        path = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])
        process = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
            cwd=ROOT,
        )
        return process.stdout.strip() if process.returncode == 0 else process.stderr.strip().splitlines()[-1]

    return run


def test_found_by_name(run):
    """A plug-in device is found by its name; results, views and scripts stay on it."""
    code = """
import ts
x = ts.tensor([[1.0, 4.0], [9.0, 16.0]], device="checked")
f = ts.jit.CompilationUnit("def f(x):\\n    return x.sqrt() @ x.t() + 1\\n").f
y = f(x)
x += 1
print(x.device, y.device, x[0].device, x.cpu().tolist(), y.sum().item(), ts.zeros(2, device="checked").tolist())
"""
    assert run(code) == "checked checked checked [[2.0, 5.0], [10.0, 17.0]] 164.0 [0.0, 0.0]"


def test_plugin_tensors_keep_their_backend(run):
    """Arrays of a subclass of ndarray belong to the plug-in, although the CPU backend is loaded later."""
    code = """
import ts
x = ts.ones(2, device="checked")
ts.rand(2)
print((x + 1).device, ts.ones(2, device="checked").device, x[0].device, ts.ones(2).device, x.cpu().device)
"""
    assert run(code) == "checked checked checked cpu cpu"


def test_nan_check_and_summation(run):
    """The plug-in raises an error at the first NaN, in eager mode and scripts, and sums without overflow."""
    start = "import ts; x = ts.tensor([1.0, 0.0], device='checked'); "
    assert run(start + "x.log()") == "FloatingPointError: aten::log returned -inf at [1] for finite arguments"
    assert "FloatingPointError: aten::div returned nan" in run(start + "(x - x) / x.mul(0)")
    assert (
        run(start + "print(x.log1p().device, (x / ts.tensor(float('nan'))).isnan().all().item())")
        == "checked True"
    )
    wide = "import ts; h = ts.full([4], 40000.0, device='checked', dtype=ts.float16); print(h.mean().item())"
    assert run(wide) == "40000.0"


def test_error_lists_installed_backends(run):
    """The error for an unknown device lists the installed backends."""
    assert "additional installed backends: checked" in run("import ts; ts.zeros(1, device='chekced')")
    assert "installed: cpu, cuda, meta, checked" in run("import ts; ts.zeros(1, device='hpu')")


def test_mixed_devices_are_rejected(run):
    """Operators reject operands on the plug-in's device and the CPU."""
    code = "import ts; ts.ones(2) + ts.ones(2, device='checked')"
    assert "Expected all tensors to be on the same device" in run(code)
