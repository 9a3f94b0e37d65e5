"""Code cache of Python functions: `ts/runtime/function_fingerprint.py` and `ts/runtime/code_cache.py`.

A program is a source string that defines `f`. Each run creates new functions, as in another process.
"""

import linecache
import math
import subprocess
import sys
import textwrap

import pytest

import ts
from ts.runtime import executor
from ts.runtime.function import ScriptFunction

PROGRAM = """
    import math
    import ts
    from typing import List, Optional
    N = 3
    F = ts.float64

    @ts.jit.script
    def g(x: ts.Tensor, by: float = 0.5):
        return x * N + by

    @ts.jit.script
    def f(x: ts.Tensor, n: int = 2, y: Optional[List[int]] = None):
        '''Words: sys, os.'''
        for i in range(n):
            x = ts.nn.functional.relu(g(x)) + math.pi
        return x.to(F)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Set the folder of the code cache and return its path."""
    monkeypatch.setenv("TS_CACHE", "1")
    monkeypatch.setenv("TS_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def run(text, filename="<program>", **names):
    """Run a program and return the names that it defines."""
    text = textwrap.dedent(text)
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    scope = {"__name__": "program", **names}
    exec(compile(text, filename, "exec"), scope)
    return scope


def is_cached(text, *args, **names):
    """Return True if `f` of a program is read from the cache; call `f`, which writes its code to the
    cache."""
    f = run(text, **names)["f"]
    f(*(args or (ts.ones(2),)))
    return f.cached_code is not None


def test_cache_is_read_by_other_processes():
    """A second process reads the code of the first and builds a graph only on request."""
    first = run(PROGRAM)["f"]
    expected = first(ts.ones(2)).tolist()
    again = run(PROGRAM)["f"]
    assert again.cached_code is not None and not again.is_compiled
    assert again(ts.ones(2)).tolist() == expected and not again.is_compiled
    assert again.bytecode == first.bytecode and not again.is_compiled
    assert (again.__name__, again.__doc__, again.__module__) == (first.__name__, first.__doc__, first.__module__)
    assert str(again.schema) == str(first.schema) and str(again.graph) == str(first.graph)


def test_calls_of_language_operators():
    """Listings name the written source line, not the helper function of `2 + x`; errors have one call level
    for both."""
    text = """
        import ts

        @ts.jit.script
        def f(x: ts.Tensor):
            y = 2.0 + ts.mm(x, x)
            return 2.0 + ts.mm(y, y)
    """
    for _ in range(2):
        again = run(text)["f"]
        again(ts.ones(2, 2))
        lines = [line.partition("    ")[0] for line in again.bytecode.splitlines() if line.startswith("#")]
        assert lines == ["# <program>:6:14", "# <program>:6:8", "# <program>:7:17", "# <program>:7:11"]
        assert {len(stack) for stack in again.available_code.lines} == {1}
    assert again.cached_code is not None and again.graph.str().count("# <string>:5:9") == 2


def test_gradients_of_cached_code():
    """Code of the differentiable graph is cached, and cached code has equal gradients."""
    text = """
    import ts

    @ts.jit.script
    def f(x: ts.Tensor, w: ts.Tensor):
        y = (x * w).tanh()
        return (y * x + y.exp()).sum()
    """

    def gradients(f):
        x, w = ts.linspace(0, 1, 4).requires_grad_(), ts.linspace(1, 2, 4).requires_grad_()
        return [g.tolist() for g in ts.autograd.grad(f(x, w), [x, w])]

    first = run(text)["f"]
    expected = gradients(first)
    again = run(text)["f"]
    assert gradients(again) == expected
    assert again.with_gradients().available_code is not None and not again.is_compiled


def test_read_in_another_process(tmp_path):
    text = textwrap.dedent(PROGRAM) + "print(f.cached_code is not None, f(ts.ones(2)).tolist())\n"
    (tmp_path / "program.py").write_text(text)
    command = [sys.executable, str(tmp_path / "program.py")]
    out = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert out[0].startswith("False [") and out[1] == out[0].replace("False", "True")


def test_hits():
    assert not is_cached(PROGRAM)
    assert is_cached(PROGRAM)
    assert is_cached(PROGRAM.replace("import ts\n", "import ts\n    unrelated = object()\n").replace("import math\n    ", "import math; "))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("N = 3", "N = 4"),  # a constant in a callee
        ("N = 3", "N = 3.0"),
        ("N = 3", "N = True"),
        ("F = ts.float64", "F = ts.float32"),
        ("x * N + by", "x * N - by"),  # the body of a callee
        ("by: float = 0.5", "by: float = 0.25"),  # a default of a callee
        ("n: int = 2", "n: int = 3"),
        ("ts.nn.functional.relu", "ts.nn.functional.tanh"),
        ("math.pi", "math.tau"),
        ("for i", "\n        for i"),  # changed line numbers
        ("Optional[List[int]] = None", "Optional[List[float]] = None"),
        ("import math", "math = ts_math"),  # an object instead of a module
        ("N = 3", "N = Three.N"),  # an intermediate class does not change the value
        ("import List, Optional", "import Optional, List; List = Optional"),
        ("@ts.jit.script\n    def g", "def g"),  # a callee that is not scripted itself
    ],
)
def test_misses(old, new):
    """A changed source or global changes the cache key."""

    class ts_math:
        pi = 3.0

    class Three:
        N = 3

    assert not is_cached(PROGRAM)
    changed = PROGRAM.replace(old, new)
    assert changed != PROGRAM
    try:
        same = new == "N = Three.N"  # the value is equal
        assert is_cached(changed, ts_math=ts_math, Three=Three) == same
    except ts.errors.TsError:  # the changed program raises its own error instead of running cached code
        pass
    assert is_cached(PROGRAM)


def test_a_file_of_another_name():
    """A file name is part of the cache key, because errors contain it."""
    assert not is_cached(PROGRAM)
    run(PROGRAM, "<other>")
    assert run(PROGRAM, "<other>")["f"].cached_code is None


@pytest.mark.parametrize(
    "text",
    [
        "class C:\n    def __init__(self): self.n = 1\n@ts.jit.script\ndef f(x: int): return C().n + x\n",
        "class P(NamedTuple):\n    n: int\n@ts.jit.script\ndef f(x: int): return P(x).n\n",
        "class E(Enum):\n    A = 1\n@ts.jit.script\ndef f(x: int): return E.A.value + x\n",
        "L = [1, 2]\n@ts.jit.script\ndef f(x: int): return (x, L)[0]\n",
        "T = ts.ones(2)\n@ts.jit.script\ndef f(x: int): return T.size(0) + x\n",
        "def h(x: int): return x\n@ts.jit.script\ndef f(x: int): return h(x)\n",
        "@ts.jit.ignore\ndef h(x: int) -> int: return x\n@ts.jit.script\ndef f(x: int): return h(x)\n",
        "@ts.jit.script\ndef f(x: int) -> int: return x if x < 9 else f(x - 1)\n",
        "@ts.jit.script\ndef f(x):\n    # type: (int) -> int\n    return x\n",
        "def f(x): return x\nf = ts.jit.script(f, example_inputs=[(1,)])\n",
        "h = ts.jit.CompilationUnit('def h(x: int): return x').h\n@ts.jit.script\ndef f(x: int): return h(x)\n",
        "@ts.jit.script\ndef f(x: int):\n    y = [1, 'a']\n    return x\n",  # issues a warning
        "import os\n@ts.jit.script\ndef f(x: int):\n    if len('os') > 9:\n        raise ValueError(os.sep)\n    return x\n",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_uncacheable_code(text):
    """Code that depends on more than the cache key is compiled each time."""
    before = "import ts\nfrom enum import Enum\nfrom typing import NamedTuple\n"
    for _ in range(2):
        try:
            assert not is_cached(before + text, 1)
        except ts.errors.TsError:
            pass


def test_closures():
    text = """
        import ts
        def make(n):
            @ts.jit.script
            def f(x: int):
                return x + n
            return f
        f = make({})
    """
    assert not is_cached(text.format(1), 1) and is_cached(text.format(1), 1)
    assert not is_cached(text.format(2), 1) and run(text.format(2))["f"](1) == 3


def test_globals_of_the_time_of_scripting():
    """A graph that is built later uses the globals at the time of scripting."""
    run(PROGRAM)["f"](ts.ones(2))
    scope = run(PROGRAM)
    f, g = scope["f"], scope["g"]
    scope["N"] = 100
    scope["g"] = None
    expected = str(run(PROGRAM, "<fresh>")["g"].graph).replace("<fresh>", "<program>")
    assert f.cached_code is not None and str(g.graph) == expected
    assert "prim::CallFunction" in str(f.graph)


def test_source_changed_after_import():
    run(PROGRAM)["f"](ts.ones(2))
    f = run(PROGRAM)["f"]
    linecache.cache["<program>"] = 1, None, ["nothing\n"] * 50, "<program>"
    assert f.cached_code is not None and "aten::add" in str(f.graph)


def test_accessed_graph_disables_the_cache():
    """A function whose graph was accessed neither writes its code to the cache nor runs cached code."""
    f = run(PROGRAM)["f"]
    for node in f.graph.all_nodes():
        if node.kind() == "aten::add":
            node.output().replace_all_uses_with(node.input(0))
    before = f(ts.ones(2)).tolist()
    again = run(PROGRAM)["f"]
    assert again.cached_code is None and again(ts.ones(2)).tolist() != before
    third = run(PROGRAM)
    assert third["f"].cached_code is not None
    (times,) = [node for node in third["g"].graph.all_nodes() if node.kind() == "aten::add"]
    times.output().replace_all_uses_with(times.input(0))
    assert third["f"](ts.ones(2), 1).tolist() == pytest.approx([3 + math.pi] * 2)


def test_switches(monkeypatch):
    """Optimization switches and the default dtype are part of the cache key."""
    assert not is_cached(PROGRAM)
    with executor.optimized_execution(False):
        f = run(PROGRAM)["f"]
        assert "relu" in f.bytecode and f.compiled_code is not f.cached_code[1]
    ts.set_default_dtype(ts.float64)
    try:
        assert not is_cached(PROGRAM)
    finally:
        ts.set_default_dtype(ts.float32)
    monkeypatch.setenv("TS_CACHE", "0")
    f = run(PROGRAM)["f"]
    assert f.cached_code is None and f.fingerprint is None


def test_cached_code_in_other_callers(folder):
    """Cached code can be called by other scripts, traced and saved."""
    run(PROGRAM)["f"](ts.ones(2))
    scope = run(PROGRAM)
    f = scope["f"]
    assert f.cached_code is not None and ts.jit.script(f) is f
    unit = ts.jit.CompilationUnit("def h(x: Tensor):\n    return f(x) + 1\n")
    assert unit.h(ts.ones(2)).tolist() == (f(ts.ones(2)) + 1).tolist()
    path = folder.parent / "f.pt"
    run(PROGRAM)["f"].save(str(path))
    assert ts.jit.load(str(path))(ts.ones(2)).tolist() == f(ts.ones(2)).tolist()


def test_damaged_files_are_ignored(folder):
    """A truncated cache file is ignored and the function is compiled."""
    run(PROGRAM)["f"](ts.ones(2))
    expected = run(PROGRAM)["f"](ts.ones(2)).tolist()
    for file in folder.rglob("*.json"):
        file.write_bytes(file.read_bytes()[:-1])
    f = run(PROGRAM)["f"]
    assert isinstance(f, ScriptFunction) and f.cached_code is None and f(ts.ones(2)).tolist() == expected


def test_errors_are_the_same():
    text = "import ts\n@ts.jit.script\ndef f(x: int, y: int):\n    return x // y\n"
    results = []
    for _ in range(2):
        f = run(text)["f"]
        f(1, 1)
        with pytest.raises(RuntimeError) as error:
            f(1, 0)
        with pytest.raises(RuntimeError) as missing:
            f(1)
        results.append((str(error.value), str(missing.value)))
    assert f.cached_code is not None and results[0] == results[1]
