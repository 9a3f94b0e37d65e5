"""Running code: calls from Python, script calls, errors with their stack, metering and limits."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time

import pytest

import ts.ops.node_schema  # registers operators of nodes in parsed graphs
from ts._core.vm.code import Code
from ts._core.vm.function import Function
from ts._core.value.spec import SPECS
from ts.bytecode.lower import lower
from ts.bytecode.opcodes import NUMBER, OPCODES
from ts.errors import FuelExceeded, MemoryExceeded, ScriptRuntimeError, StackExceeded, TimeExceeded
from ts.ir.graph_parser import parse_ir
from ts.runtime.limits import limits

INT, STR, ANY = SPECS["int"], SPECS["str"], SPECS["Any"]


class Script(Function):
    """A function whose source is bytecode or graph text."""

    def __init__(self, source, *arguments, name="f", declaration="", result=ANY):
        super().__init__(name, arguments, declaration, result=result)
        self.source = source

    def _prepare(self):
        return self.source if isinstance(self.source, Code) else lower(parse_ir(self.source), self.name)


def rows(*instructions):
    return [(NUMBER[name], *operands, *[0] * (3 - len(operands))) for name, *operands in instructions]


def recursive(body):
    """Return a function with instructions `body`: functions[0] is itself, operand_pool[0] its argument r1."""
    function = Script(None, ("n", INT), name="down", result=INT)
    function.source = Code("down", rows(*body), "iiii", [INT], [1, 0], [1, 1], functions=[function], result=INT)
    return function


DOWN = [("JUMP_LE_I64", 4, 0, 3), ("SUB_I64", 1, 0, 2), ("CALL", 1, 0, 0), ("RETURN", 1), ("RETURN", 0)]


@pytest.fixture
def add():
    text = "graph(%x : int, %y : int):\n  %z : int = aten::add(%x, %y)\n  return (%z)\n"
    return Script(text, ("x", INT), ("y", INT, 2), declaration="f(int x, int y=2) -> int")


@pytest.fixture
def endless():
    return Script(Code("endless", rows(("LOOP", 0)), "i", [INT]), ("n", INT), name="endless")


def test_arguments(add):
    assert (add(1), add(1, 5), add(1, y=7), add(y=1, x=1)) == (3, 6, 8, 2)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1, 2, 3), {}, r"f\(\) expected at most 2 argument\(s\) but received 3 argument\(s\)\. Declaration: f\("),
        ((), {}, r"f\(\) is missing value for argument 'x'\. Declaration: f\("),
        ((1,), {"z": 3}, r"Unknown keyword argument 'z' for operator 'f'\. Schema: f\("),
        ((), {"xx": 3}, r"f\(\) is missing value for argument 'x'.*\nHint: unknown argument 'xx'$"),
        ((), {"y": 3}, r"f\(\) is missing value for argument 'x'\. Declaration: f\(int x, int y=2\) -> int$"),
        ((1,), {"x": 3}, r"Argument 'x' specified both as positional and keyword argument\. Schema: f\("),
        (("a",), {}, r"f\(\) Expected a value of type 'int' for argument 'x' but instead found type 'str'\.\nPosition: 0"),
        ((1, None), {}, r"for argument 'y' but instead found type 'NoneType'\.\nPosition: 1\nValue: None\nDeclaration"),
        ((2**70,), {}, r"Expected a value of type 'int' for argument 'x' but instead found type 'int'"),
    ],
)
def test_invalid_arguments(add, args, kwargs, message):
    """Invalid arguments raise PyTorch's error class and message."""
    with pytest.raises(RuntimeError, match=message):
        add(*args, **kwargs)


def test_int_arithmetic_wraps(add):
    assert add(2**63 - 1, 1) == -(2**63)


def test_error_carries_script_stack():
    text = "graph(%x : int):\n  %z : int = aten::floordiv(%x, %x)\n  return (%z)\n"
    f = Script(text, ("x", INT))
    assert f(3) == 1
    with pytest.raises(RuntimeError, match="division by 0") as caught:
        f(0)
    assert type(caught.value) is RuntimeError
    assert "Traceback of TorchScript (most recent call last):" in str(caught.value)


def test_raise_is_a_script_error():
    f = Script(Code("f", rows(("RAISE", 0, 1)), "ox", [STR], [None]), ("message", STR))
    with pytest.raises(ScriptRuntimeError, match="no good"):
        f("no good")


def test_script_recursion_uses_the_heap():
    down = recursive(DOWN)
    assert down(50_000) == 0
    with pytest.raises(StackExceeded, match="nested calls"):
        down(100_000)
    assert down(10) == 0


def test_depth_limit(endless):
    with limits(depth=100), pytest.raises(StackExceeded):
        recursive(DOWN)(200)


def test_fuel(endless):
    with limits(fuel=10_000), pytest.raises(FuelExceeded):
        endless(1)


def test_fuel_is_shared_by_calls(add):
    """Fuel used by finished calls counts against the limit."""
    down = recursive(DOWN)
    with limits(fuel=1_000), pytest.raises(FuelExceeded):
        for _ in range(100):
            down(50)


def test_seconds(endless):
    start = time.monotonic()
    with limits(seconds=0.05), pytest.raises(TimeExceeded):
        endless(1)
    assert time.monotonic() - start < 5


GROWING = """graph(%n : int):
  %true : bool = prim::Constant[value=1]()
  %xs : int[] = prim::ListConstruct()
   = prim::Loop(%n, %true)
    block0(%i : int):
      %ys : int[] = aten::append(%xs, %i)
      -> (%true)
  %size : int = aten::len(%xs)
  return (%size)
"""


def test_bytes():
    """A list that exceeds the memory limit ends the program; smaller lists run before and after."""
    growing = Script(GROWING, ("n", INT))
    with limits(bytes=64 << 20):
        assert growing(1000) == 1000
        with pytest.raises(MemoryExceeded, match="more memory"):
            growing(50_000_000)
    assert growing(1000) == 1000


def test_inner_limits_cannot_give_more(endless):
    with limits(fuel=5_000), limits(fuel=10**12), pytest.raises(FuelExceeded):
        endless(1)


def test_interrupt(endless):
    """Ctrl-C ends an endless loop that holds no Python object."""
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless(1)
    timer.join()


def test_numbers_run_without_the_gil(endless):
    """Number loops release the GIL."""
    done = []

    def work():
        done.append(sum(range(1000)))
        _thread.interrupt_main()

    thread = threading.Timer(0.05, work)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        endless(1)
    thread.join()
    assert done


def test_threads_have_their_own_states(add):
    down = recursive(DOWN)
    results = []
    threads = [threading.Thread(target=lambda: results.append([down(2_000 + i) for i in range(20)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[0] * 20] * 4


def test_functions_are_initialized_once():
    """A Function cannot be initialized twice, because verified code depends on its parameters."""
    function = Function("f", [("x", INT)])
    with pytest.raises(TypeError, match="cannot be initialized twice"):
        function.__init__("f", [("x", STR)])
    for argument in (("x", int), ("x",), ()):
        with pytest.raises(TypeError, match=r"expected \(name, type, \.\.\.\)"):
            Function("f", [argument])


PAIRED = """
def remainders(n: int, k: int) -> int:
    s = 0
    for i in range(n):
        s += (i - 3) % k
    return s


def squares(x: float, y: float) -> float:
    return x * x + y * y


def difference(x: float, y: float) -> float:
    return x * x - y * y
"""


def test_adjacent_instructions_run_as_a_superinstruction():
    """Superinstructions of three instructions return their results and errors, and can be suspended."""
    unit, python = ts.jit.CompilationUnit(PAIRED), {}
    exec(PAIRED, python)
    for name, sequence in (
        ("remainders", ["MOD_I64", "ADD_I64", "LOOP_STEP"]),
        ("squares", ["MUL_F64", "MUL_F64", "ADD_F64"]),
        ("difference", ["MUL_F64", "MUL_F64", "SUB_F64"]),
    ):
        names = [OPCODES[row[0]].name for row in getattr(unit, name).compiled_code.instructions]
        assert any(names[i : i + 3] == sequence for i in range(len(names))), names
    for k in (1, 7, -7, 2**59, -1, -(2**59)):
        for n in (0, 1, 2, 9):
            assert unit.remainders(n, k) == python["remainders"](n, k)
    for x, y in ((3.0, 4.5), (-0.0, 0.0), (1e200, 1e-200), (0.1, 0.7)):
        assert unit.squares(x, y).hex() == python["squares"](x, y).hex()
        assert unit.difference(x, y).hex() == python["difference"](x, y).hex()
    with pytest.raises(Exception, match=r"(?s)s \+= \(i - 3\) % k.*division by 0"):
        unit.remainders(3, 0)
    for steps in (1, 2, 3):
        program = unit.remainders.start(9, 4)
        while not program.run(steps=steps):
            pass
        assert program.future.wait() == python["remainders"](9, 4)
