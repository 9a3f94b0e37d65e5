"""Packages written for PyTorch run unmodified in `ts`, eager and compiled, with PyTorch's outputs and training losses.

`make packages` installs the packages into a separate folder and runs this file; without that folder or
PyTorch the tests are skipped.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

HERE = Path(__file__).parent
FOLDER = os.environ.get("TS_PACKAGES")  # folder of the installed packages
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(FOLDER is None, reason="TS_PACKAGES names no folder of packages: make packages"),
]
# Tolerances: the libraries round differently.
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


def cases():
    """Return the case names with their packages and actions, read without importing the packages."""
    spec = importlib.util.spec_from_file_location("package_cases", HERE / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


CASES = cases() if FOLDER else {}


def run(library, folder, name):
    """Return the output of `run.py` for a case."""
    environment = {**os.environ, "PYTHONPATH": f"{FOLDER}{os.pathsep}{HERE}"}
    done = subprocess.run(
        [sys.executable, str(HERE / "run.py"), library, str(folder), name],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def outputs(path, first):
    with np.load(path) as saved:
        return [saved[key] for key in saved.files if key[0] == first]


@pytest.mark.parametrize("name", CASES)
def test_same_outputs(name, tmp_path):
    expected = run("torch", tmp_path, name)
    if "error" in expected:
        pytest.skip(f"PyTorch does not run it here: {expected['error']}")
    found = run("ts", tmp_path, name)
    assert "error" not in found, found["error"]
    assert found["outputs"] == expected["outputs"] > 0
    for first in "os":
        pairs = zip(outputs(tmp_path / f"{name}.ts.npz", first), outputs(tmp_path / f"{name}.npz", first), strict=True)
        for ours, theirs in pairs:
            assert ours.shape == theirs.shape and np.allclose(ours, theirs, equal_nan=True, **CLOSE)
    assert np.allclose(found["losses"], expected["losses"], rtol=1e-3)
