"""Samples of docs/how-to/serve-models.md, and options of docs/reference/serve.md."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serve.client import ask_json

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'torchscript-ts[serve]'")
from tests.serve.conftest import serving
from ts.cli.main import parser

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to/serve-models.md").read_text() + (DOCS / "reference/serve.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_documented_options():
    """The command has every documented option, with the documented default."""
    options = {}
    for action in parser("serve")._subparsers._group_actions[0].choices["serve"]._actions:
        options |= dict.fromkeys(action.option_strings, action.default)
    assert set(re.findall(r"(?<=`)--[a-z-]+", PAGE)) <= set(options)
    for name, documented in re.findall(r"^\| `(--[a-z-]+)` \| (\d+)M? \|", PAGE, re.MULTILINE):
        default = options[name]
        if default is not None:
            assert int(documented) in (default, default >> 20), name


def test_python_samples_compile():
    assert len([text for kind, text in BLOCKS if kind == "python" and compile(text, "serving.md", "exec")]) == 2


@pytest.mark.long
def test_samples(tmp_path):
    """Save and serve the documented model; send the documented requests as JSON and npz."""
    save, ask = (text for kind, text in BLOCKS if kind == "python")
    (tmp_path / "save.py").write_text(save)
    subprocess.run([sys.executable, "save.py"], cwd=tmp_path, check=True)
    shell = next(text for _, text in BLOCKS if "/predict" in text)
    given = json.loads(re.search(r"-d '(.*?)'", shell)[1])
    expected = json.loads(shell.splitlines()[1])["outputs"]
    with serving(tmp_path / "net.pt", "--batch", 32) as process:
        status, found = ask_json(process.port, "/predict", given)
        assert status == 200 and found["outputs"] | {"data": None} == expected | {"data": None}
        names = {}
        exec(ask.rpartition("\n\n")[0], names)
        out = names["predict"](f"http://127.0.0.1:{process.port}/predict", x=names["np"].ones((1, 4), "f4"))["out"]
        assert out.shape == (1, 3) and abs(out.sum() - 1) < 1e-5


@pytest.mark.long
def test_playground_sample():
    program = json.loads(re.search(r"-d '(.*?)'\n", next(text for _, text in BLOCKS if "/run" in text))[1])
    with serving() as process:
        assert ask_json(process.port, "/run", program)[1]["result"] == "42"
