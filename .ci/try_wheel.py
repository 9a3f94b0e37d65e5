"""Test of an installed wheel in an empty folder: `python try_wheel.py`.

It needs only the wheel and its dependencies.  It imports every compiled module, and runs a loop, a model that
is saved and loaded, gradients, limits, the drawing of a graph, and the command line.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    """Run all tests; stop at the first failure."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        import ts

        home = Path(ts.__file__).parent
        assert "site-packages" in home.parts, f"ts is imported from {home}, not from an installed wheel"
        compiled = [path for path in home.rglob("*") if path.suffix in (".so", ".pyd")]
        for path in compiled:
            name = path.relative_to(home.parent).with_name(path.name.partition(".")[0])
            importlib.import_module(".".join(name.parts))
        program = Path("program.py")
        program.write_text(PROGRAM)
        names: dict[str, object] = {"__name__": "program"}
        exec(compile(PROGRAM, str(program.resolve()), "exec"), names)
        for words in (["--version"], ["info", "model.pt"], ["run", "program.py:collatz", "27"]):
            done = subprocess.run(
                [sys.executable, "-m", "ts", *words], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "111"
        print(f"ts {version('torchscript-ts')}: {len(compiled)} compiled modules imported, sample "
        "programs ran")


PROGRAM = """\
import ts

@ts.jit.script
def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = ts.nn.Conv2d(3, 8, 3)
        self.head = ts.nn.Linear(8, 4)

    def forward(self, x):
        return self.head(ts.relu(self.conv(x)).mean(dim=[2, 3]))

if __name__ == "program":
    assert collatz(27) == 111
    model = ts.jit.script(Net())
    x = ts.rand(2, 3, 16, 16)
    model(x).sum().backward()
    assert model.conv.weight.grad.shape == (8, 3, 3, 3)
    ts.jit.save(model.eval(), "model.pt")
    assert ts.equal(ts.jit.load("model.pt")(x), model(x))
    model.graph.draw("model.svg")
    try:
        with ts.limits(fuel=10):
            collatz(27)
    except ts.errors.FuelExceeded:
        pass
    else:
        raise AssertionError("the limit did not hold")
"""

if __name__ == "__main__":
    main()
