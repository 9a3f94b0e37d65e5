"""Startup of a first scripted function: modules that a process must import, and modules that it must not
import."""

import inspect
import os
import subprocess
import sys
from types import CodeType

import pytest

from tests.import_graph import ROOT
from ts.frontend import function_source
from ts.runtime.python_frame_stack import preallocate_frames

LINE = """
import ts

@ts.jit.script
def f(x: ts.Tensor):
    return x + 1

assert f(ts.ones(3)).tolist() == [2.0, 2.0, 2.0]
"""
IMPORTED = """
import sys
print(*sys.modules)
"""

# Modules that a single script line does not need: other packages, and modules that NumPy does not import
# itself.
NEVER = (
    "ml_dtypes", "numpy.typing", "queue", "ts.archive", "ts.autograd", "ts.backends.cpu.blas", "ts.backends.cpu.argsort",
    "ts.backends.cpu.kernels.special", "ts.backends.cpu.kernels.vector_math", "ts.bytecode.disasm", "ts.cli", "ts.debugger",
    "ts.distributions", "ts.report", "ts.ir.graph_parser", "ts.nn", "ts.optim", "ts._core.builtin_ops.tensor", "ts._core.tensor.printing",
    "ts.profiler", "ts.runtime.module", "ts.tracing",
    "ts._core.autograd", "ts.passes.loop_versioning", "ts.passes.specialize_to_arguments",
)  # fmt: skip
# Modules that only a process without cached code imports.
TO_COMPILE = (
    "ts._core.builtin_ops.scalar", "ts.analysis", "ts.bytecode.lower", "ts.bytecode.opcodes", "ts.bytecode.typespec", "ts.frontend.annotations",
    "ts.frontend.classes", "ts.frontend.compile", "ts.frontend.ir_emitter", "ts.frontend.parse", "ts.fusion", "ts.ir.graph",
    "ts.ir.schema", "ts.ir.source", "ts.ir.types", "ts.ops.node_schema", "ts.passes.preserve_raising_code", "ts.passes.pipelines",
    "ts.runtime.objects",
)  # fmt: skip
# Modules that a process does not need to load an archive.
NOT_TO_LOAD = (
    "ts.analysis.alias", "ts.bytecode.lower", "ts.ir.graph_parser", "ts.ir.graph_printer", "ts.ir.python_print", "ts.passes.dce",
    "ts.passes.freezing", "ts.passes.inline", "ts.passes.subgraph_rewrite", "ts.runtime.executor", "ts.runtime.frozen_modules",
)  # fmt: skip


def in_process(code, *arguments, **variables):
    """Return the output of a new process that runs the code."""
    done = subprocess.run(
        [sys.executable, *(arguments or ("-c", code))],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def line(tmp_path):
    """Return a function that lists the modules imported by a process that runs `LINE` with a code cache."""
    path = tmp_path / "line.py"
    path.write_text(LINE + IMPORTED)

    def imported(**variables):
        return in_process("", str(path), TS_CACHE_DIR=str(tmp_path / "kept"), **variables).split()

    return imported


def among(modules, names):
    return sorted(name for name in names if name in modules)


def test_modules_imported_without_cached_code(line):
    """The first script call imports only packages that it needs and its own kernels."""
    modules = line(TS_CACHE="0")
    assert not among(modules, NEVER)
    assert "ts.frontend.parse" in modules and "ts.ir.graph" in modules  # checks that these names exist


def test_modules_imported_with_cached_code(line):
    """A process that reads cached code imports no frontend, graph, pass or opcode modules."""
    first, second = line(TS_CACHE="1"), line(TS_CACHE="1")
    assert not among(first, NEVER) and len(among(first, TO_COMPILE)) > len(TO_COMPILE) - 4
    assert not among(second, NEVER + TO_COMPILE)


def test_modules_imported_by_loading(tmp_path):
    """A process that loads an archive imports no passes, except as dependencies of the first compilation."""
    path = tmp_path / "net.pt"
    in_process(f"import ts; ts.jit.save(ts.jit.script(ts.nn.ReLU()), {str(path)!r})")
    load = f"import ts; module = ts.jit.load({str(path)!r})"
    assert not among(in_process(load + IMPORTED).split(), NOT_TO_LOAD)
    with_call = f"{load}; assert module(ts.ones(1)).item() == 1.0; assert module.code and module.graph{IMPORTED}"
    assert "ts.ir.python_print" in in_process(with_call).split()


@pytest.mark.parametrize("name", NEVER + TO_COMPILE + NOT_TO_LOAD)
def test_listed_modules_exist(name):
    """The module names used in these tests can be imported."""
    result = in_process(f"import importlib; importlib.import_module({name!r})")
    assert result == ""


def test_numpy_is_imported_without_collections():
    """NumPy is imported without garbage collections, each of which would traverse its modules."""
    code = """
import gc, sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("numpy"):
            enabled.append(gc.isenabled())

enabled = []
sys.meta_path.insert(0, Watch())
import ts
ts.ones(1)
print(len(enabled) > 20, any(enabled), gc.isenabled())
"""
    assert in_process(code).split() == ["True", "False", "True"]


# The first use of bfloat16 in a process, which registers NumPy's dtype.
FIRST = {
    "code": "ts.jit.CompilationUnit('def f():\\n    return torch.zeros([2], dtype=15)').f()",
    "function": "ts.zeros(2, dtype=ts.bfloat16)",
    "convert": "ts.ones(2).to(ts.bfloat16) - 1",
    "of a list": "ts.tensor([0.0, 0.0], dtype=ts.bfloat16)",
    "of NumPy": "ts.from_numpy(__import__('numpy').zeros(2, __import__('ml_dtypes').bfloat16))",
    "of bytes": "ts.frombuffer(bytearray(4), dtype=ts.bfloat16)",
    "reinterpreted": "ts.zeros(2, dtype=ts.int16).view(ts.bfloat16)",
    "by name": "ts.tensor([0.0, 0.0]).bfloat16()",
    "by type": "ts.BFloat16Tensor([0.0, 0.0])",
    "promoted": "ts.zeros(2, dtype=ts.bool) + ts.zeros((), dtype=ts.bfloat16).item() * ts.ones(2).bfloat16()",
    "drawn": "ts.rand(2, dtype=ts.bfloat16) * 0",
    "by default": "(ts.set_default_dtype(ts.bfloat16), ts.zeros(2))[1]",
}


@pytest.mark.parametrize("name", FIRST)
def test_first_bfloat16(name):
    """The first use of bfloat16, by any function, registers the dtype with its values and promotion rules."""
    code = f"""
import ts
x = {FIRST[name]}
y = (x + 1).exp().float()
print(x.dtype, x.tolist(), (x + 1).sum().dtype, round(y[0].item(), 1), ts.result_type(x, ts.ones(2, dtype=ts.float16)))
"""
    assert in_process(code).split() == "torch.bfloat16 [0.0, 0.0] torch.bfloat16 2.7 torch.float32".split()


# The first uses of float8 dtypes, which are registered together.
FIRST_FLOAT8 = {
    "code": "ts.jit.CompilationUnit('def f():\\n    return torch.zeros([2], dtype=24)').f()",
    "function": "ts.zeros(2, dtype=ts.float8_e4m3fn)",
    "convert": "ts.zeros(2).to(ts.float8_e4m3fn)",
    "of a list": "ts.tensor([0.0, 0.0], dtype=ts.float8_e4m3fn)",
    "of bytes": "ts.frombuffer(bytearray(2), dtype=ts.float8_e4m3fn)",
    "reinterpreted": "ts.zeros(2, dtype=ts.uint8).view(ts.float8_e4m3fn)",
    "after bfloat16": "ts.zeros(2).bfloat16().to(ts.float8_e4m3fn)",
    "copied to": "ts.empty(2, dtype=ts.float8_e4m3fn).copy_(ts.zeros(2))",
}


@pytest.mark.parametrize("name", FIRST_FLOAT8)
def test_first_float8(name):
    """The first use of a float8 dtype, by any function, registers it with its values and promotion rules."""
    code = f"""
import ts
x = {FIRST_FLOAT8[name]}
y = x.to(ts.float8_e8m0fnu)
print(x.dtype, x.tolist(), y.dtype, (x == x).tolist(), ts.result_type(x, 1.5))
"""
    expected = "torch.float8_e4m3fn [0.0, 0.0] torch.float8_e8m0fnu [True, True] torch.float8_e4m3fn"
    assert in_process(code).split() == expected.split()


def codes(code):
    """Yield the code objects of all functions in a file, including nested functions."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & inspect.CO_OPTIMIZED and not constant.co_name.startswith("<"):
                yield constant
            yield from codes(constant)


@pytest.mark.parametrize("path", ["ts/frontend/function_source.py", "ts/jit/scripting.py", "tests/test_classes.py", "tests/source_extraction_cases.py"])
def test_end_of_a_function_source(path):
    """The end of a function's source equals that of `inspect`, with trailing comments, strings and
    brackets."""
    text = (ROOT / path).read_text()
    lines = text.splitlines(keepends=True)
    results = list(codes(compile(text, path, "exec")))
    assert len(results) > 5
    for code in results:
        rest = lines[code.co_firstlineno - 1 :]
        assert function_source._block(rest, code) == inspect.getblock(rest), code.co_name


def test_calls_do_not_reallocate_stack_memory():
    """Calls at any stack depth do not allocate and release system memory."""
    resource = pytest.importorskip("resource")

    def nothing():
        pass

    def calls():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(1_000):
            nothing()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    def at(depth):
        return at(depth - 1) if depth else preallocate_frames(calls)

    assert max(at(depth) for depth in range(200)) < 500
    assert preallocate_frames(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        preallocate_frames(divmod, 7, 0)
