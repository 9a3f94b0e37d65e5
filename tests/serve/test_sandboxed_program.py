"""Reports of untrusted programs: compiled, printed and called, without executing any of it as Python."""

import os
import re

import pytest

from ts.serve.sandboxed_program import MAX_SOURCE_CHARS, report

LOOP = """\
def total(n: int) -> int:
    found = 0
    for i in range(n):
        found += i
    return found
"""


def run_report(text, call="", seconds=10.0, bytes=1 << 28):
    return report(text, call, seconds=seconds, bytes=bytes)


def test_graph_and_bytecode_rows_have_source_lines():
    found = run_report(LOOP, "total(5)")
    assert (found["result"], found["error"], found["output"]) == ("10", None, "")
    (function,) = found["functions"]
    assert (function["name"], function["schema"]) == ("total", "total(int n) -> int")
    assert [line for text, line in function["graph"] if "aten::add" in text] == [4]
    assert [line for text, line in function["bytecode"] if "ADD_I64" in text] == [4]
    assert found["seconds"] >= 0


def test_empty_call_runs_nothing():
    found = run_report("def f() -> int:\n    print('called')\n    return 1\n")
    assert (found["result"], found["output"], len(found["functions"])) == (None, "", 1)


@pytest.mark.parametrize(
    ("text", "call", "kind", "line", "message"),
    [
        ("def f(n: int) -> str:\n    return n\n", "f(1)", "CompilationError", 2, "Return value was annotated"),
        ("def f(n: int) -> int:\n    return n +\n", "f(1)", "FrontendError", 2, "invalid syntax"),
        ("def f(n: int) -> int:\n    raise ValueError('no')\n    return 1\n", "f(1)", "ValueError", 2, "no"),
        ("def f(n: int) -> int:\n    while n > 0:\n        n += 1\n    return n\n", "f(1)", "TimeExceeded", 2, "more time"),
        ("def f(n: int) -> int:\n    return len('a'.ljust(n))\n", "f(1 << 40)", "MemoryExceeded", 2, "more memory|memory limit"),
        ("def f(n: int) -> int:\n    return f(n)\n", "f(1)", "StackExceeded", 2, "nested calls"),
        ("def f(n: int) -> int:\n    return [1][n]\n", "f(1)", "RuntimeError", 2, "list index out of range"),
        ("def f(x):\n    return x @ x\n", "f(torch.ones(2, 3))", "RuntimeError", 2, "size mismatch|shapes cannot|must match"),
        (LOOP, "total('a')", "SchemaMatchError", 0, "Expected a value of type 'int'"),
        (LOOP, "total(1); total(2)", "Rejected", 0, "must be one expression"),
        (LOOP, "x = 1", "Rejected", 0, "must be one expression"),
        ("x = 1\n", "", "NotSupportedError", 1, "Expected a function definition"),
        ("def f():\n    breakpoint()\n", "f()", "Rejected", 2, "is unsupported"),
        ("#" * (MAX_SOURCE_CHARS + 1), "", "Rejected", 0, "characters"),
    ],
)  # fmt: skip
def test_errors_have_kind_and_line(text, call, kind, line, message):
    error = run_report(text, call, seconds=0.5 if kind == "TimeExceeded" else 30.0)["error"]
    assert (error["kind"], error["line"]) == (kind, line), error
    assert re.search(message, error["message"])


def test_output_and_result_are_truncated():
    text = "def f(n: int):\n    for i in range(n):\n        print('x'.ljust(100, 'x'), i)\n"
    found = run_report(text, "f(10000)")
    assert found["output"].startswith("x" * 100 + " 0\n") and len(found["output"]) < 70_000
    assert len(run_report("def f() -> str:\n    return 'x'.ljust(1000000)\n", "f()")["result"]) < 70_000


def test_imports_of_the_scripted_language():
    text = """\
import torch
import torch.nn.functional as F
from math import pi
from typing import List, Optional
from torch import Tensor

@torch.jit.script
def f(xs: List[float], y: Optional[Tensor] = None) -> float:
    with torch.no_grad():
        x = F.layer_norm(torch.tensor(xs), [2]) * pi
    return float(torch.einsum("i,i", x, x)) + math.sqrt(4.0) + float(torch.linalg.norm(x))
"""
    found = run_report(text, "f([1.0, 3.0])")
    assert found["error"] is None and 26 < float(found["result"]) < 27
    assert [line for text, line in found["functions"][0]["graph"] if "aten::einsum" in text] == [11]


# Sandbox escapes that would work with the ordinary resolver of live functions.
ESCAPES = [
    "import os\ndef f() -> int:\n    return 1",
    "from os import path\ndef f() -> int:\n    return 1",
    "from torch.hub import os\ndef f() -> int:\n    return 1",
    "import torch.hub as h\ndef f() -> int:\n    return 1",
    "def f() -> str:\n    return open('/etc/hostname').read()",
    "def f() -> str:\n    return torch.hub.os.name",
    "def f() -> str:\n    return torch.hub.os.__file__",
    "def f() -> str:\n    return torch.__file__",
    "def f() -> str:\n    return torch.__dict__['hub'].os.name",
    "def f() -> str:\n    return torch._module.hub.os.name",
    "def f() -> str:\n    return torch.nn.functional.torch.hub.os.name",
    "def f() -> str:\n    return torch.functional.ts.hub.os.name",
    "def f() -> str:\n    return torch.jit.sys.platform",
    "def f() -> str:\n    return torch.ops.aten.__module__",
    "def f() -> str:\n    return torch.ops.aten.name",
    "def f() -> str:\n    return torch._found('hub')",
    "def f() -> str:\n    return torch._find_attribute('hub')",
    "def f() -> str:\n    return typing.sys.platform",
    "def f() -> str:\n    return List.__module__",
    "def f() -> str:\n    return torch.Tensor.__module__",
    "def f() -> str:\n    return ValueError.__name__",
    "def f() -> str:\n    return getattr(torch, 'hub').os.name",
    "def f() -> str:\n    return math.__loader__.name",
    "def f(x: str = torch.hub.os.environ['HOME']) -> str:\n    return x",
    "def f(x: str = torch.__name__) -> str:\n    return x",
    "def f(x: str = int.__name__) -> str:\n    return x",
    "def f(x: str = typing.__name__) -> str:\n    return x",
    "def f(x: int = print('ran')) -> int:\n    return x",
    "def f(x: print('ran') = 1) -> int:\n    return 1",
    "def f(x: 'print(1)' = 1) -> int:\n    return 1",
    "def f(x: List[print('ran')] = 1) -> int:\n    return 1",
    "def f(x):\n    # type: (print('ran')) -> int\n    return 1",
    "def f():\n    return torch.load('/etc/hostname')",
    "def f():\n    torch.save(torch.ones(1), '/tmp/x')",
    "def f():\n    torch.ops.load_library('/tmp/x.so')",
    "def f() -> int:\n    return __import__('os').system('true')",
    "def f() -> int:\n    return eval('1')",
    "def f() -> str:\n    return input()",
    "def f() -> int:\n    x = 1\n    with torch.jit._IgnoreContextManager(x='inp:int', y='out:int'):\n        print('ran')\n        y = x\n    return y",
    "def f() -> int:\n    x = 1\n    with torch.jit.ignore_context_manager(x='inp:int', y='out:int'):\n        print('ran')\n        y = x\n    return y",
    "def f() -> int:\n    x = 1\n    with ignore_context_manager(x='inp:int', y='out:int'):\n        print('ran')\n        y = x\n    return y",
    "@torch.jit.ignore\ndef g() -> int:\n    return len([1 for _ in () if True] or open('/etc/hostname').read())\ndef f() -> int:\n    return g()",
    "class A(object):\n    x = print('ran')\n    def __init__(self):\n        pass\ndef f() -> int:\n    A()\n    return 1",
]  # fmt: skip


@pytest.mark.parametrize("text", ESCAPES, ids=range(len(ESCAPES)))
def test_sandbox_escapes_are_rejected(text, capfd):
    """The program is rejected with an error, before any side effect."""
    found = run_report(text, "f()")
    assert found["error"] is not None and found["result"] is None, found["result"]
    assert found["error"]["kind"] != "InternalError" and "ran" not in found["output"].replace("ran'", "")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("call", ["__import__('os').getcwd()", "torch.hub.os.name", "open('/etc/hostname')", "(lambda: 1)()"])
def test_sandbox_escapes_of_calls_are_rejected(call):
    assert run_report(LOOP, call)["error"] is not None


def test_decorators_are_not_evaluated(tmp_path):
    mark = tmp_path / "mark"
    found = run_report(f"@open({str(mark)!r}, 'w')\ndef f() -> int:\n    return 1\n", "f()")
    assert found["result"] == "1" and not mark.exists()
    assert os.listdir(tmp_path) == []
