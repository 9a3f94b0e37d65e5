"""Run mypy and pyright on `tests/typing` and compare with the expected errors.

    python -m tests.type_checkers        run the installed type checkers; exit with 1 if one differs

Input: `valid_uses.py` and `reveal.py`, which must have no errors, and `invalid_uses.py`, which must have an error in every line after "# ----
invalid operations", except for comments, decorators and headers of definitions.  `make lint` runs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = {name: ROOT / "tests" / "typing" / f"{name}.py" for name in ("valid_uses", "reveal", "invalid_uses")}
HEADS = ("#", "@", "def ", "class ", "    def ", "    return t * times")

Errors = dict[str, set[int]]  # line numbers by file name


def mistakes() -> set[int]:
    """Return the line numbers of `invalid_uses.py` that must have errors."""
    lines = FILES["invalid_uses"].read_text().split("\n")
    start = lines.index("# ---- invalid operations") + 1
    return {n for n, line in enumerate(lines, 1) if n > start and line.strip() and not line.startswith(HEADS)}


def mypy() -> Errors:
    """Return the lines that mypy rejects with the strict settings of `ts`."""
    done = _run([sys.executable, "-m", "mypy", "--no-error-summary", *map(str, FILES.values())])
    results: Errors = {name: set() for name in FILES}
    for name, line in re.findall(r"(\w+)\.py:(\d+): error", done):
        results.setdefault(name, set()).add(int(line))
    return results


def pyright() -> Errors:
    """Return the lines that pyright rejects with its standard settings."""
    command = "basedpyright" if find_spec("basedpyright") is not None else "pyright"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "pyrightconfig.json")
        config.write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": [str(ROOT)], "include": [str(ROOT / "tests" / "typing")]}))
        done = _run([sys.executable, "-m", command, "-p", str(config), "--outputjson", "--pythonpath", sys.executable])
    results: Errors = {name: set() for name in FILES}
    for each in json.loads(done)["generalDiagnostics"]:
        if each["severity"] == "error":
            results.setdefault(Path(each["file"]).stem, set()).add(each["range"]["start"]["line"] + 1)
    return results


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command[2]} failed: {done.stdout}{done.stderr}")
    return done.stdout


CHECKERS: dict[str, Callable[[], Errors]] = {"mypy": mypy, "pyright": pyright}


def missing(checker: str) -> bool:
    """Return True if the checker is not installed."""
    return not any(find_spec(name) for name in ((checker, "basedpyright") if checker == "pyright" else (checker,)))


def checker_differences(checker: str) -> list[str]:
    """Return the differences between a checker's errors and the expected errors of these files."""
    actual = CHECKERS[checker]()
    differences = []
    for name, lines in actual.items():
        expected = mistakes() if name == "invalid_uses" else set()
        text = FILES[name].read_text().split("\n") if name in FILES else []
        source_lines = {n: text[n - 1] if n <= len(text) else "" for n in lines | expected}
        differences += [f"{name}.py:{n}: {checker} refuses {source_lines[n]!r}" for n in sorted(lines - expected)]
        differences += [f"{name}.py:{n}: {checker} does not refuse {source_lines[n]!r}" for n in sorted(expected - lines)]
    return differences


if __name__ == "__main__":
    wrong = [problem for checker in CHECKERS if not missing(checker) for problem in checker_differences(checker)]
    print(*wrong, *(f"{checker} is not installed" for checker in CHECKERS if missing(checker)), sep="\n")
    sys.exit(bool(wrong))
