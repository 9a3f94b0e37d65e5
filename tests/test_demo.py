"""`make demo` runs, prints the expected text, and writes no files to the source tree."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.long
def test_demo(tmp_path):
    """The demo runs a PyTorch archive without PyTorch and loops that are faster in scripts, and writes
    pictures on request."""
    command = [sys.executable, ROOT / "examples" / "demo.py", "--quick", "--out", tmp_path]
    before = subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert "197 of 200 unseen digits are classified correctly; PyTorch is not imported." in done.stdout
    assert "graph(%n.1 : int):" in done.stdout and "code of triangle" in done.stdout
    ratios = [line.split("x ")[-2].split()[-1] for line in done.stdout.splitlines() if " ms " in line and "x " in line]
    assert len(ratios) == 4 and all(float(ratio) > 0 for ratio in ratios)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "comparison.svg", "digits.svg", "mandelbrot.png", "triangle.svg",
    ]  # fmt: skip
    for path in tmp_path.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    after = subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert before == after
