"""The programs of examples/rpc run with the command that each documents."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
EXAMPLES = Path(__file__).parents[2] / "examples" / "rpc"


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("map_batches.py", "pi is about 3.1"),
        ("pipeline.py", "12 microbatches through two stages: equal to the result of the whole batch"),
        ("batch_updates.py", "40 rounds of 3 trainers: maximal loss 0.0000"),
        ("reinforce.py", "60 rounds with 2 observers: 10 of the last 10 reached the goal"),
        ("split_model.py", "the loss fell from 0.426 to 0.00"),
        ("parameter_server.py", "weights after 2 x 120 steps: [1.0, -2.0, 0.5, 3.0]"),
    ],
)
def test_examples(name, output):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(output)
