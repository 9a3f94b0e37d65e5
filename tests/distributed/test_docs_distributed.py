"""The example of docs/how-to/train-on-several-processes.md."""

import subprocess
import sys
from pathlib import Path


SNIPPET = Path(__file__).parents[2] / "docs" / "snippets" / "process_groups.py"


def test_the_program_trains():
    """The program trains in two processes, which end with equal weights."""
    run = subprocess.run([sys.executable, str(SNIPPET)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    assert run.stdout.startswith("loss ") and 0 <= float(run.stdout.split()[1]) < 1
