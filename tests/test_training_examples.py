"""Each training example is one command that trains, draws its curve and writes its files."""

import subprocess
import sys
from pathlib import Path

import pytest

import ts

pytest.importorskip("matplotlib", reason="curves are drawn by matplotlib (extra `examples`)")
pytest.importorskip("sklearn", reason="the images come with scikit-learn (extra `examples`)")

ROOT = Path(__file__).parent.parent
WRITTEN = {
    "char_lstm.py": ["char_lstm.png"],
    "digits.py": ["digits.png", "digits.pt"],
    "finetune.py": ["finetune.png", "finetuned.pt"],
}


def run(example, out, *options):
    """Run an example and return its output."""
    command = [sys.executable, ROOT / "examples" / example, "--out", out, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", WRITTEN)
def test_a_few_steps(example, tmp_path):
    """A few steps write the curve and all files; the seed is used."""
    printed = run(example, tmp_path / "a", "--steps", "3", "--seed", "1")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == WRITTEN[example]
    assert (tmp_path / "a" / WRITTEN[example][0]).read_bytes().startswith(b"\x89PNG")
    assert printed != run(example, tmp_path / "b", "--steps", "3", "--seed", "2")


WITHOUT = """
import runpy, sys
sys.modules["matplotlib"] = sys.modules["sklearn"] = None
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(("example", "needs"), [("char_lstm.py", "matplotlib"), ("finetune.py", "matplotlib and sklearn")])
def test_missing_package_is_reported_in_one_line(example, needs, tmp_path):
    """A missing package is reported before training and writing."""
    command = [sys.executable, "-c", WITHOUT, ROOT / "examples" / example, "--out", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    assert done.stderr == f"{example} needs {needs}: pip install 'torchscript-ts[examples]'\n"


def test_digits_are_read(tmp_path):
    """The digits example and its saved archive classify at least 97 % of the test images correctly."""
    printed = run("digits.py", tmp_path)
    share = float(printed.partition(", ")[2].partition(" %")[0])
    assert share >= 97
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import digits
    finally:
        sys.path.remove(str(ROOT / "examples"))
    _, test = digits.images(ts)
    model = ts.jit.load(str(tmp_path / "digits.pt"))
    assert 100 * digits.accuracy(ts, model, test) == pytest.approx(share, abs=0.06)


@pytest.mark.long
def test_fine_tuning(tmp_path):
    """Fine-tuning of pretrained weights classifies most of the new digits after training on 50 images."""
    printed = run("finetune.py", tmp_path)
    before, after = (float(line.partition(": ")[2].partition(" %")[0]) for line in printed.splitlines())
    assert before < 50 and after > 85
    state = ts.load(str(tmp_path / "finetuned.pt"), weights_only=True)
    pretrained = ts.load(str(ROOT / "examples/data/digits_0_to_4.pt"), weights_only=True)
    assert list(state) == list(pretrained)
    assert state["0.weight"].equal(pretrained["0.weight"]) and not state["6.weight"].equal(pretrained["6.weight"])
