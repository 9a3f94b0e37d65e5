"""`ts.jit.script` and `ts.jit.CompilationUnit`: supported objects, calls and attributes."""

import random
import copy
import functools
import inspect
import linecache
import math
import pydoc
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import pytest

import ts

LIMIT = 7
SCALE = 0.5
NAMES = ("a", "b")


def helper(x: int) -> int:
    return x * LIMIT


def test_function():
    """A scripted function accepts the arguments of the Python function."""

    @ts.jit.script
    def f(x: int, y: int = 3) -> int:
        """Adds."""
        return x + y

    assert f(1) == 4
    assert f(1, 1) == 2
    assert f(y=1, x=2) == 3
    assert f.name == f.__name__ == "f"
    assert f.__doc__ == "Adds."
    assert str(f.schema) == "f(int x, int y=3) -> int"


def test_compiled_once():
    """`script` returns the same ScriptFunction for the same function, and a ScriptFunction unchanged."""
    first = ts.jit.script(helper)
    assert ts.jit.script(helper) is first
    assert ts.jit.script(first) is first
    assert isinstance(first, ts.jit.ScriptFunction)


def test_scope():
    """Scripts can use globals, closures, modules, functions and builtins of the surrounding scope."""
    inner = 2

    def f(x: int) -> float:
        return helper(x) + inner + math.floor(math.pi) + len(NAMES[0]) * SCALE

    assert ts.jit.script(f)(1) == 7 + 2 + 3 + 0.5


def test_callee_is_compiled_on_demand():
    def leaf(x: int) -> int:
        return x + 1

    def f(x: int) -> int:
        return leaf(leaf(x))

    scripted = ts.jit.script(f)
    assert scripted(1) == 3
    assert "prim::CallFunction" in str(scripted.graph)
    assert "prim::CallFunction" not in str(scripted.inlined_graph)


def test_recursion():
    @ts.jit.script
    def fib(n: int) -> int:
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    assert fib(15) == 610


def test_recursion_through_another_function():
    def even(n: int) -> bool:
        return True if n == 0 else odd(n - 1)

    def odd(n: int) -> bool:
        return False if n == 0 else even(n - 1)

    assert ts.jit.script(even)(10) is True
    assert ts.jit.script(odd)(10) is False


def test_failed_compilation_can_be_repeated():
    """A function whose callee fails compiles after the callee compiles."""
    namespace: Dict[str, Any] = {}

    def callee(x: int) -> int:
        return x + later

    def caller(x: int) -> int:
        return callee(x)

    callee.__globals__.pop("later", None)
    with pytest.raises(ts.jit.FrontendError):
        ts.jit.script(caller)
    callee.__globals__["later"] = 5
    try:
        assert ts.jit.script(caller)(1) == 6
    finally:
        callee.__globals__.pop("later", None)
    assert namespace == {}


def test_compilation_unit():
    """Functions of a unit can call each other in any order, and use names of the caller's scope."""
    unit = ts.jit.CompilationUnit("""
def f(x: int) -> int:
    return g(x) + LIMIT

def g(x: int) -> int:
    return x * 2
""")
    assert unit.f(1) == 9
    assert unit.g(4) == 8
    unit.define("def h(x: Tensor) -> Tensor:\n    return torch.neg(x) + f(1)\n")
    assert float(unit.h(ts.ones(1))) == 8.0
    assert [f.name for f in unit.get_functions()] == ["f", "g", "h"]
    with pytest.raises(AttributeError):
        unit.missing


@pytest.mark.parametrize(
    "annotation, value",
    [
        ("int", -3),
        ("float", 2.5),
        ("bool", True),
        ("str", "text"),
        ("complex", 1 + 2j),
        ("List[int]", [1, 2, 3]),
        ("List[List[str]]", [["a"], []]),
        ("Dict[str, float]", {"a": 1.5, "b": 2.0}),
        ("Dict[int, List[bool]]", {1: [True], 2: []}),
        ("Tuple[int, str, float]", (1, "x", 0.5)),
        ("Optional[int]", None),
        ("Optional[int]", 4),
        ("Any", "anything"),
    ],
)
def test_values_pass_through(annotation, value):
    """A value of each type is returned with its Python type."""
    unit = ts.jit.CompilationUnit(f"def f(x: {annotation}) -> {annotation}:\n    return x\n")
    result = unit.f(value)
    assert result == value
    assert type(result) is type(value)


def test_list_arguments_are_copied():
    """A list argument is copied at the call, as in PyTorch."""

    @ts.jit.script
    def f(xs: List[int]) -> int:
        xs.append(1)
        return len(xs)

    argument = [0]
    assert f(argument) == 2
    assert argument == [0]


def test_named_tuple():
    class Point(NamedTuple):
        x: int
        y: float

    def f(p: Point) -> Point:
        return Point(p.x + 1, p.y * 2)

    result = ts.jit.script(f)(Point(1, 2.0))
    assert (result.x, result.y) == (2, 4.0)


def test_tensor_is_the_default_type():
    @ts.jit.script
    def f(x, y):
        return x + y * 2

    result = f(ts.ones(2), ts.ones(2))
    assert result.tolist() == [3.0, 3.0]
    assert str(f.schema) == "f(Tensor x, Tensor y) -> Tensor"


def test_module_named_torch():
    """`torch` in source text means `ts`, independent of an installed torch."""
    unit = ts.jit.CompilationUnit("def f(x: torch.Tensor):\n    return torch.relu(x)\n")
    assert unit.f(ts.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]


def test_stages_print():
    @ts.jit.script
    def f(x: int) -> int:
        while x < 10:
            x = x * 2
        return x

    assert f(3) == 12
    assert "prim::Loop" in str(f.graph)
    assert "def f(x: int) -> int:" in f.code
    assert "MUL_I64" in f.bytecode or "SHL" in f.bytecode or "ADD_I64" in f.bytecode


def test_docstrings_and_decorators():
    """Decorators above `script` are not part of the compiled source."""

    def decorate(function):
        function.mark = 1
        return function

    @ts.jit.script
    @decorate
    def f(x: int) -> int:
        """Text."""
        return x

    assert f(5) == 5


def test_is_scripting():
    def f() -> int:
        if ts.jit.is_scripting():
            return 1
        return undefined_here()

    assert not ts.jit.is_scripting()
    assert ts.jit.script(f)() == 1


def test_annotate_and_optional():
    def f(flag: bool) -> Optional[List[int]]:
        xs = ts.jit.annotate(Optional[List[int]], None)
        if flag:
            xs = [1]
        return xs

    scripted = ts.jit.script(f)
    assert scripted(True) == [1] and scripted(False) is None


def test_multiple_results():
    def f(x: int) -> Tuple[int, List[str]]:
        return x, [str(x)]

    assert ts.jit.script(f)(3) == (3, ["3"])


def test_threads():
    """A function can run in several threads concurrently."""

    @ts.jit.script
    def f(n: int) -> int:
        total = 0
        for i in range(n):
            total += i
        return total

    results = []
    threads = [threading.Thread(target=lambda: results.append(f(10_000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [49995000] * 4


def test_limits():
    """Fuel, time and depth limits end a program with an error that names the limit."""
    unit = ts.jit.CompilationUnit("""
def forever() -> int:
    i = 0
    while i >= 0:
        i = (i + 1) % 1000
    return i

def endless() -> int:
    while True:
        pass
    return 1

def deep(n: int) -> int:
    return 0 if n == 0 else 1 + deep(n - 1)
""")
    with ts.limits(fuel=10_000), pytest.raises(ts.errors.FuelExceeded, match="fuel"):
        unit.forever()
    with ts.limits(seconds=0.05), pytest.raises(ts.errors.TimeExceeded, match="seconds"):
        unit.forever()
    with ts.limits(fuel=10_000), pytest.raises(ts.errors.FuelExceeded):
        unit.endless()  # not removed as dead code, although it has no effect
    assert "while _0:" in unit.endless.code
    with ts.limits(depth=50), pytest.raises(ts.errors.StackExceeded):
        unit.deep(100)
    assert unit.deep(100) == 100
    start = time.perf_counter()
    with pytest.raises(ts.errors.StackExceeded):
        unit.deep(100_000_000)
    assert time.perf_counter() - start < 5  # the stack is collected in linear time
    with pytest.raises(ValueError):
        ts.limits(fuel=-1)


def run_python(code, **environment):
    import os

    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )


def test_switched_off(tmp_path):
    """With TS_JIT=0, `script` returns the function unchanged."""
    (tmp_path / "m.py").write_text("import ts\n@ts.jit.script\ndef f(x: int) -> int:\n    return x\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import m; print(type(m.f).__name__, m.f(2))"
    for name in ("TS_JIT", "PYTORCH_JIT"):
        assert run_python(code, **{name: "0"}).stdout.split() == ["function", "2"]
    assert run_python(code).stdout.split() == ["ScriptFunction", "2"]


def test_logging():
    """A pass named in TS_JIT_LOG_LEVEL prints the graph."""
    code = "import ts; ts.jit.CompilationUnit('def f(x: int) -> int:\\n    return x + 1 + 1\\n').f(1)"
    result = run_python(code, TS_JIT_LOG_LEVEL="dce")
    assert "[DUMP dce]" in result.stderr
    assert "graph(%x" in result.stderr
    assert run_python(code).stderr == ""


def test_unknown_pass_names():
    """Unknown pass names in TS_JIT_LOG_LEVEL and TS_JIT_OPT_LIMIT issue one warning."""
    code = "import ts; cu = ts.jit.CompilationUnit; cu('def f(x: int):\\n    return x').f(1); cu('')"
    for switch in ({"TS_JIT_LOG_LEVEL": "nothing"}, {"PYTORCH_JIT_OPT_LIMIT": "nothing=2:cse=1"}):
        stderr = run_python(code, **switch).stderr
        assert stderr.count("UserWarning: unknown pass nothing; the passes are ") == 1
    assert "Warning" not in run_python(code, TS_JIT_LOG_LEVEL=">common_subexpression_elimination.cpp").stderr


def test_invalid_limit():
    """An invalid `TS_JIT_OPT_LIMIT` raises `ValueError` at the first use of the compiler and names the
    variable."""
    result = run_python("import ts; ts.jit.script", TS_JIT_OPT_LIMIT="cse=x")
    assert result.returncode == 1
    assert "ValueError: TS_JIT_OPT_LIMIT: expected a limit of the form pass=number (for example cse=3)" in result.stderr


def test_tracebacks_of_users():
    """The traceback of an uncaught error shows the user's frames without the compiler's frames."""
    code = (
        "import ts, traceback\n"
        "try:\n    ts.jit.{}\n"
        "except Exception as error:\n    print(len(traceback.extract_tb(error.__traceback__)))"
    )
    for call in ("CompilationUnit('def f(): return y')", "script(ts.nn.Identity()).define('def f(self): return y')"):
        short = int(run_python(code.format(call)).stdout)
        assert short <= 3
        assert int(run_python(code.format(call), TS_SHOW_INTERNAL="1").stdout) > short


@pytest.mark.parametrize("what", [3, "text", (1,)])
def test_not_a_function(what):
    with pytest.raises(TypeError):
        ts.jit.script(what)


def test_a_level_of_recursion_is_a_frame():
    """A recursive function is not inlined into itself, so the depth limit counts its levels."""
    unit = ts.jit.CompilationUnit(
        "def deep(n: int) -> int:\n    if n == 0:\n        return 0\n    return deep(n - 1) + 1\n"
    )
    assert unit.deep(1_000) == 1_000
    with ts.limits(depth=100), pytest.raises(RuntimeError, match="100 nested calls"):
        unit.deep(100)
    with pytest.raises(RuntimeError, match="nested calls"):
        unit.deep(100_000)


def test_optimized_execution_off_runs_no_passes():
    """`optimized_execution(False)` runs functions without optimization passes and with equal results."""
    text = """
def f(xs: List[int]) -> int:
    total = 0
    for x in xs:
        total += x * (2 + 3)
    return total
"""
    with ts.jit.optimized_execution(False):
        assert ts.jit.CompilationUnit(text).f([1, 2]) == 15
    assert ts.jit.CompilationUnit(text).f([1, 2]) == 15


def test_tensor_where_a_number_is_expected():
    """A tensor converts to a number only with zero dimensions, and to an int only with an integer dtype."""
    functions = ts.jit.CompilationUnit(
        "def half(n: int) -> int:\n  return n // 2\ndef f(x: Tensor) -> int:\n  return half(x)\n"
    )
    assert functions.f(ts.tensor(8)) == 4
    with pytest.raises(RuntimeError, match="Cannot input a tensor of dimension other than 0"):
        functions.f(ts.ones(1, dtype=ts.int64))
    with pytest.raises(RuntimeError, match="Cannot input a tensor of type Float as an integral argument"):
        functions.f(ts.tensor(1.5))


def test_underline_of_a_subscript():
    """The underline of a failed subscript includes the closing bracket."""
    f = ts.jit.CompilationUnit("def f(x: Dict[str, int]) -> int:\n  return x['key']\n").f
    with pytest.raises(RuntimeError, match=r"(?m)^ {9}~{8} <--- HERE$"):
        f({})


def test_functions_are_copied_by_reference():
    """Copying a scripted function returns the function itself."""
    scripted = ts.jit.script(plain_for_copies)
    assert copy.copy(scripted) is copy.deepcopy(scripted) is scripted


def plain_for_copies(x: int) -> int:
    return x


def test_partial_functions_are_rejected_by_name():
    with pytest.raises(TypeError, match="takes a function, a class or a module, not an object of type partial"):
        ts.jit.script(functools.partial(plain_for_copies, 1))


def test_name_after_failure():
    """A name whose compilation failed stays reserved, as in PyTorch."""

    def reserved_name(x: int) -> int:
        return x + "a"

    with pytest.raises(RuntimeError):
        ts.jit.script(reserved_name)

    def reserved_name(x: int) -> int:
        return x

    name = ts.jit.script(reserved_name).qualified_name
    assert "___torch_mangle_" in name and name.endswith(".reserved_name")


def increment(x: Optional[int]) -> int:
    if x is None:
        x = 1
    return x + 1


def test_printed_source_compiles():
    """The text of `fn.code` compiles, while the function exists that defines its names."""

    @ts.jit.script
    def calling(xs: List[Optional[int]]) -> int:
        x = xs[0]
        assert x is not None
        return increment(x) - 1

    assert "unchecked_cast" in calling.code and "__torch__." in calling.code
    unit = ts.jit.CompilationUnit(calling.code)
    assert unit.calling([5]) == 5
    assert unit.calling.code == calling.code
    with pytest.raises(RuntimeError, match="undefined value unchecked_cast"):
        ts.jit.CompilationUnit("def f(x: int):\n    return unchecked_cast(int, y)\n")


def test_builtin_methods_are_not_operators():
    def main() -> float:
        return random.random()

    with pytest.raises(ts.jit.FrontendError, match=r"Python builtin <built-in method random .* not supported"):
        ts.jit.script(main)


def test_special_functions_have_one_name():
    @ts.jit.script
    def main(x):
        return ts.special.expit(x) + ts.special.gammaln(x)

    assert "torch.sigmoid(x)" in main.code and "torch.lgamma(x)" in main.code


@pytest.mark.parametrize("condition", ["n > 3", "torch.tensor(n) > 3"])
def test_assert_function(condition):
    """`torch._assert` raises AssertionError with its message, as the statement does."""
    unit = ts.jit.CompilationUnit(f"def f(n: int):\n    torch._assert({condition}, 'small')\n    return n\n")
    assert unit.f(4) == 4
    with pytest.raises(RuntimeError, match="AssertionError: small"):
        unit.f(3)


@pytest.mark.parametrize("name", ["_assert", "numel", "is_floating_point", "is_complex"])
def test_functions_of_the_package_are_the_same_under_names_of_a_program(name):
    """A function imported from `torch` is resolved like `torch.name`."""
    arguments = '(x.dim() == 1, "vector")' if name == "_assert" else "(x)"
    source = f"def f(x):\n    {{}}{arguments}\n    return x\n"
    graphs = []
    for path in (name, f"torch.{name}"):
        scope = {name: getattr(ts, name), "torch": ts}
        linecache.cache[f"<{path}>"] = (0, None, source.format(path).splitlines(True), f"<{path}>")
        exec(compile(source.format(path), f"<{path}>", "exec"), scope)
        graphs.append([node.kind() for node in ts.jit.script(scope["f"]).inlined_graph.nodes()])
    assert graphs[0] == graphs[1]


def of_a_module(x: ts.Tensor, n: int = 3) -> int:
    """Gives n."""
    return n


def test_scripted_function_has_the_original_attributes():
    """A scripted function has the name, location, docstring, parameters and annotations of the original, and
    `__wrapped__`."""
    f = ts.jit.script(of_a_module)
    for name in ("__doc__", "__name__", "__qualname__", "__module__", "__annotations__"):
        assert getattr(f, name) == getattr(of_a_module, name), name
    assert f.__wrapped__ is of_a_module
    assert inspect.signature(f) == inspect.signature(of_a_module)
    assert "Gives n." in pydoc.render_doc(f)
    assert f.__wrapped__(ts.ones(1)) == f(ts.ones(1)) == 3

    @ts.jit.script
    def inner(x, y: float = 0.5):
        return x * y

    assert inner.__qualname__.endswith(".<locals>.inner") and str(inspect.signature(inner)) == "(x, y: float = 0.5)"


def test_a_function_of_text_has_a_signature():
    """A function of a `CompilationUnit` has a Python signature: parameters, defaults and TorchScript
    types."""
    unit = ts.jit.CompilationUnit("def f(x, n: int = 3, *, s: str) -> Tuple[int, Tensor]:\n    return n, x\n")
    signature = inspect.signature(unit.f)
    assert [*signature.parameters] == ["x", "n", "s"] and signature.parameters["n"].default == 3
    assert signature.parameters["s"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.parameters["x"].annotation == "Tensor" and signature.return_annotation == "Tuple[int, Tensor]"
    assert unit.f.__annotations__ == {} and not hasattr(unit.f, "__wrapped__")


def test_scripted_methods_have_the_original_attributes(tmp_path):
    """`forward` and exported methods have the original attributes; loaded modules have signatures."""

    class Net(ts.nn.Module):
        def forward(self, x: ts.Tensor, k: int = 2) -> ts.Tensor:
            """Times k."""
            return x * k

        @ts.jit.export
        def other(self, x):
            return x

    scripted = ts.jit.script(Net())
    forward = scripted.forward
    assert (forward.__doc__, forward.__name__, forward.__module__) == ("Times k.", "forward", __name__)
    assert forward.__qualname__ == Net.forward.__qualname__ and forward.__annotations__ == Net.forward.__annotations__
    assert inspect.signature(forward) == inspect.signature(Net().forward)
    assert forward.__wrapped__.__func__ is Net.forward and forward.__wrapped__.__self__ is scripted
    assert str(inspect.signature(scripted.other)) == "(x)"
    scripted.save(tmp_path / "net.pt")
    loaded = ts.jit.load(tmp_path / "net.pt")
    assert str(inspect.signature(loaded.forward)) == "(x: 'Tensor', k: 'int' = 2) -> 'Tensor'"
    assert not hasattr(loaded.forward, "__wrapped__") and loaded.forward(ts.ones(1)).item() == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_errors_of_user_attributes_propagate(error):
    """An error that a class of the user raises at attribute access is not taken for a missing attribute."""

    class Meta(type):
        def __getattr__(cls, name):
            if name == "_fields":
                raise error("from the user")
            raise AttributeError(name)

    class Value(metaclass=Meta):
        pass

    def is_value(x: int):
        return isinstance(x, Value)

    with pytest.raises(error, match="from the user"):
        ts.jit.script(is_value)
