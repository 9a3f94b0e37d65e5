"""Generated operator pages and index files are current."""

import json
import subprocess
import sys
from pathlib import Path

from tests import generate_operator_index
from ts.ops import registry

ROOT = Path(__file__).parent.parent


def test_the_pages_are_current():
    """The operator pages are current (`python -m tests.generate_operator_index`); checked in a new process
    because the order of families depends on imports."""
    program = "import json; from tests import generate_operator_index as g; print(json.dumps({p.name: t for p, t in g.pages().items()}))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert {path.name: path.read_text() for path in generate_operator_index.FOLDER.glob("*.md")} == json.loads(done.stdout)


def test_missing_operators_have_no_record():
    assert not [name for name in generate_operator_index.MISSING if registry.records(f"aten::{name}")]


def test_operator_index_is_current():
    """The operator index is current (`python -m tests.generate_operator_index`)."""
    assert generate_operator_index.DIRECTORY.read_text() == generate_operator_index.directory()


def test_builtin_operator_index_is_current():
    """The import index of built-in operators equals the modules that define them."""
    assert generate_operator_index.PRIMS.read_text() == generate_operator_index.prim_directory()


def test_kernel_index_is_current():
    """The kernel index is current."""
    assert generate_operator_index.KERNELS.read_text() == generate_operator_index.kernel_directory()


def test_operators_do_not_depend_on_load_order():
    """The overload order of an operator does not depend on the operators loaded before."""
    program = (
        "import sys\n"
        "from ts.ops import registry\n"
        "names = sys.stdin.read().split()\n"
        "alone = {name: [str(operator) for operator in registry.lookup(name)] for name in names}\n"
        "registry.load()\n"
        "registry._operators.clear()\n"
        "assert alone == {name: [str(operator) for operator in registry.lookup(name)] for name in names}\n"
        "print(len(alone))\n"
    )
    names = sorted(registry.names())
    for order in (names, names[::-1]):
        done = subprocess.run([sys.executable, "-c", program], input=" ".join(order), capture_output=True, text=True, check=False)
        assert done.stdout.split() == [str(len(names))], done.stderr


def modules_after(program: str) -> set[str]:
    """Return the names of the modules that a process has imported after running a program."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_program_imports_what_it_uses():
    program = (
        "import sys, ts\n"
        "unit = ts.jit.CompilationUnit('def f(x: int) -> int:\\n    return x + 1\\n')\n"
        "assert unit.f(1) == 2\n"
        "print(*sys.modules)\n"
    )
    loaded = modules_after(program)
    assert "ts.ops.pointwise" in loaded
    assert not loaded & {"ts.ops.quantized", "ts.ops.fft", "ts.ops.conv", "ts.backends.cpu.kernels.kernel_binding"}


FIRST_LINE = """
import sys, ts

@ts.jit.script
def f(x: ts.Tensor):
    return x + 1

assert f(ts.ones(3)).tolist() == [2, 2, 2] and (f.cached_code is not None) == bool(len(sys.argv) - 1)
print(*sys.modules)
"""


def test_modules_imported_by_a_first_script(tmp_path, monkeypatch):
    """The number of modules imported for a first script call is fixed, with and without cached code."""
    monkeypatch.setenv("TS_CACHE", "1")
    monkeypatch.setenv("TS_CACHE_DIR", str(tmp_path / "kept"))
    program = tmp_path / "program.py"
    program.write_text(FIRST_LINE)

    def modules_of_ts(*arguments: str) -> list[str]:
        command = [sys.executable, str(program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert not {"dataclasses", "tempfile", "string"} & set(done.stdout.split())
        names = [name for name in done.stdout.split() if name.partition(".")[0] == "ts"]
        return [name for name in names if name != "ts._compiled__mypyc"]

    first, again = modules_of_ts(), modules_of_ts("kept")
    assert len(first) < 289 and len(again) < 196, (len(first), len(again))
    kernels = {name.rpartition(".")[2] for name in first if name.startswith("ts.backends.cpu.kernels.")}
    assert {"create", "pointwise"} <= kernels and not kernels & {"matmul", "recurrent", "softmax", "pooling"}
    assert not [name for name in again if name.startswith(("ts.frontend.ir_emitter", "ts.passes.pipelines", "ts.bytecode.lower"))]
