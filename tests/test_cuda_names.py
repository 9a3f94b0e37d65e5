"""CuPy names in the sources exist in the recorded list of CuPy's names."""

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fake_cupy.array import API

ROOT = Path(__file__).parent.parent
MODULES = {"cupy": API["modules"]["cupy"], "cupyx": API["modules"]["cupyx"]}
SUBMODULES = ("linalg", "fft", "lib.stride_tricks", "cuda.runtime", "cuda")


def dotted(node):
    """Return the names of an attribute chain, or None."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


def attribute_chains(folder, roots):
    """Yield (file, line, name without the root) of each attribute chain that starts at a root."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text())
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and id(node) not in inner:
                chain = dotted(node)
                if chain and chain[0] in roots and len(chain) > 1:
                    yield path.name, node.lineno, ".".join(chain[1:])


def has_cupy_name(root, name):
    """Return True if CuPy has a name; attributes of a function are not checked."""
    for module in SUBMODULES:
        if root == "cupy" and name.startswith(f"{module}."):
            return name.removeprefix(f"{module}.").partition(".")[0] in API["modules"][f"cupy.{module}"]
    return name.partition(".")[0] in MODULES[root]


def test_names_in_the_backend():
    """Names `cupy.NAME` and `cupyx.NAME` in backends/cuda exist."""
    for root in ("cupy", "cupyx"):
        results = list(attribute_chains("backends/cuda", {root}))
        assert results
        assert [x for x in results if not has_cupy_name(root, x[2])] == []


def test_names_in_kernels(cuda):
    """Names `xp.NAME` in operators exist in CuPy, are replaced by the namespace, or run on the CPU by a table."""
    from ts.backends.cuda import cpu_fallback, namespace
    from ts.backends.array_namespace import Namespace

    elsewhere = {name for name in vars(Namespace) if not name.startswith("_")} | set(namespace.OVERRIDES)
    unknown = [
        x for x in attribute_chains("ts/ops", {"xp"})
        if not has_cupy_name("cupy", x[2]) and x[2] not in cpu_fallback.FUNCTIONS and x[2].partition(".")[0] not in elsewhere
    ]  # fmt: skip
    assert unknown == []


def test_special_functions(cuda):
    """Names of scipy.special in the operators exist in cupyx, or the operator runs on the host."""
    from ts.backends.cuda import cpu_fallback
    from ts.ops import unary

    text = "".join(p.read_text() for p in (ROOT / "ts/ops").glob("*.py"))
    tree = ast.parse(text.replace("from __future__ import annotations", ""))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.args[0] if node.args else None, ast.Constant):
            called = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            if called in ("special", "_special2"):
                names.add(node.args[0].value)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("xp.scipy('special')", "special"):
            names.add(node.attr)
    assert {"gammaln", "erf"} <= names and inspect.isfunction(unary.special)
    missing = names - set(API["modules"]["cupyx.scipy.special"])
    assert missing <= {"airy"} and "aten::special_airy_ai" in cpu_fallback.OPERATORS


def test_api_list_matches_installed_cupy():
    """The recorded API list equals the API of an installed CuPy."""
    code = "import json; from tests.fake_cupy.record_api import record; print(json.dumps(record()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    if "No module named 'cupy'" in done.stderr:
        pytest.skip("CuPy is not installed")
    result = json.loads(done.stdout)
    if result["version"] != API["version"]:
        pytest.skip(f"recorded from {API['version']}, installed is {result['version']}")
    assert result["modules"]["cupy"] == API["modules"]["cupy"] and result["ndarray"] == API["ndarray"]


def test_documentation_lists_cpu_fallbacks(cuda):
    """The table in docs/explanation/cuda-backend.md equals the fallback table of the backend."""
    from ts.backends.cuda import cpu_fallback

    rows = [f"| `numpy.{n}` | {why} |" for n, why in cpu_fallback.FUNCTIONS.items()]
    rows += [f"| `{n}` | {why} |" for n, why in cpu_fallback.OPERATORS.items()]
    text = (ROOT / "docs" / "explanation" / "cuda-backend.md").read_text()
    table = [line for line in text.splitlines() if line.startswith(("| `numpy.", "| `aten::"))]
    assert table == rows
