"""Picture of the report of `ts explain` for a small convolutional network: `docs/images/explain.png`.

    python -m tests.explain_picture      needs Chromium (`make pictures`)

Input: the program `PROGRAM`. Output: the upper part of the report as a PNG file. The times in it are those of this machine.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "explain.png"
WIDTH, HEIGHT = 1200, 643  # pixels
MAX_BYTES = 150_000
INPUT = "x=float32[1,3,64,64]"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

PROGRAM = '''\
import ts
from ts import Tensor


class Network(ts.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = ts.nn.Conv2d(3, 16, 3, padding=1)
        self.second = ts.nn.Conv2d(16, 16, 3, padding=1)
        self.classes = ts.nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = ts.relu(self.first(x))
        for _ in range(2):
            y = self.second(x)
            x = x + ts.sigmoid(y) * ts.tanh(y)
        return self.classes(x.mean([2, 3]))
'''


def main() -> int:
    """Write the report, take a screenshot of its upper part, and check the size of the file."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no Chromium found: install it, for example with `apt-get install chromium`", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        program, report = Path(folder, "network.py"), Path(folder, "report.html")
        program.write_text(PROGRAM)
        explain = [sys.executable, "-m", "ts", "explain", f"{program.name}:Network", INPUT, "-o", report.name]
        subprocess.run(explain, cwd=folder, check=True)
        report.write_text(report.read_text("utf-8").replace(f"{folder}/", ""), "utf-8")  # the picture shows no temporary folder
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1"]
        size = f"--window-size={WIDTH},{HEIGHT}"
        subprocess.run([browser, *options, size, f"--screenshot={PICTURE}", report.as_uri()], check=True, capture_output=True)
    if PICTURE.stat().st_size > MAX_BYTES:
        print(f"{PICTURE} has {PICTURE.stat().st_size:,} bytes, and may have {MAX_BYTES:,}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
