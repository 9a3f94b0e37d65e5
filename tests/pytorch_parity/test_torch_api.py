"""The lists of PyTorch's names (`ts/unsupported/api.txt`, `tests/torch_api.txt`) match the installed PyTorch."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")


def test_recorded_names_match_pytorch():
    """A new process lists the names, because some PyTorch modules change the process that imports them."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.record_torch_api", "--check"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
