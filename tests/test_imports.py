"""Imports go one way: each stage may import the stages listed for it, and importing `ts` loads almost nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VOCABULARY = {"errors", "dtypes", "devices"}

# What each stage may import of `ts` while it is loaded. An import inside a function is a callback upwards
# (a tensor that prints itself) and is counted as well, unless the table of exceptions names it.
MAY_IMPORT = {
    "errors": set(),
    "devices": {"errors"},
    "dtypes": {"errors"},
    "ir": VOCABULARY,
    "_core": VOCABULARY | {"_core"},
    "backends": VOCABULARY | {"_core", "backends"},
    "ops": VOCABULARY | {"_core", "backends", "ir", "ops"},
    "analysis": VOCABULARY | {"_core", "backends", "ir", "ops", "analysis"},
    "passes": VOCABULARY | {"_core", "backends", "ir", "ops", "analysis", "passes"},
    "frontend": VOCABULARY | {"_core", "ir", "ops", "analysis", "passes", "frontend"},
    "bytecode": VOCABULARY | {"_core", "ir", "ops", "bytecode", "analysis"},
}
ALLOWED_INSIDE_FUNCTIONS = {
    "frontend": {""},  # names of the program are looked up in `ts` itself
    "_core": {"backends", "ops", "printing"},  # a tensor finds its operators and its text by name
    "backends": {"ops"},
    "ops": {"functional"},  # methods that are functions in the scripted subset
}


def modules():
    for stage, allowed in MAY_IMPORT.items():
        base = ROOT / ("backends" if stage == "backends" else f"ts/{stage}")
        files = [base.with_suffix(".py")] if base.with_suffix(".py").exists() else sorted(base.rglob("*.py*"))
        for path in files:
            if path.suffix in (".py", ".pyx"):
                yield pytest.param(stage, path, allowed, id=str(path.relative_to(ROOT)))


def imported(path):
    """(stage, inside a function) for each import of `ts` in a file; Cython files are read line by line."""
    if path.suffix == ".pyx":
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) > 1 and words[0] in ("import", "from", "cimport") and words[1].startswith("ts."):
                yield words[1].split(".")[1], line.startswith(" ")
        return
    tree = ast.parse(path.read_text())
    inside = set()
    type_checking = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            inside |= set(ast.walk(node)) - {node}
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            type_checking |= set(ast.walk(node))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "ts" else [f"ts.{alias.name}" for alias in node.names]
        for name in names:
            if (name == "ts" or name.startswith("ts.")) and node not in type_checking:
                yield (name.split(".") + [""])[1], node in inside


@pytest.mark.parametrize("stage, path, allowed", list(modules()))
def test_stage_imports_downwards(stage, path, allowed):
    """A file imports only the stages below its own."""
    later = ALLOWED_INSIDE_FUNCTIONS.get(stage, set())
    for name, inside in imported(path):
        fine = name in allowed or name == stage or (inside and name in later)
        assert fine, f"{path.name} imports ts.{name}"


def test_import_is_lazy():
    """`import ts` alone loads neither a compiler stage nor NumPy."""
    code = "import sys, ts; print([m for m in sys.modules if m.startswith('ts.') or m == 'numpy'])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_imports_without_pytorch():
    """Compiling and running never imports PyTorch."""
    code = "import sys, ts\nts.jit.CompilationUnit('def f(x: int) -> int:\\n    return x + 1\\n').f(1)\nprint('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
