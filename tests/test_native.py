"""Machine code of hot loops has the results, errors, fuel and lifetimes of the interpreter, at any side exit."""

import gc
import math
import os
import random
import subprocess
import sys
import threading
import time
from typing import Dict, List, Optional, Tuple

import pytest

import ts
from tests.fuzz import how_many
from tests.fuzz.classes import ClassProgramWriter
from tests.fuzz.containers import ContainerProgramWriter
from tests.fuzz.programs import ProgramWriter
from tests.fuzz.run_program import ARGUMENTS, CONTAINER_ARGUMENTS, as_functions
from tests.fuzz.run_program import outcome as fuzz_outcome
from tests.jit_helpers import fresh, needs_llvm, outcome
from tests.program_files import FOLDER, all_programs, read
from ts._core.vm.native import force_exit, register_compiler
from ts.bytecode.native import side_exits, background_compilation
from ts.bytecode.opcodes import OPCODES

PROGRAMS = [path for path in all_programs() if not read(path).scripts_itself and read(path).compile_error is None]


def test_each_opcode_has_a_generator_or_stays_interpreted():
    import ts.bytecode.native.tensor_access_codegen  # noqa: F401 -- more builders
    from ts.bytecode.native.opcode_codegen import BUILDERS

    names = {row.name for row in OPCODES}
    assert side_exits.INTERPRETER_ONLY_OPCODES <= names and side_exits.RUNTIME_FUNCTION_OPCODES <= names
    assert not side_exits.INTERPRETER_ONLY_OPCODES & set(BUILDERS)
    assert side_exits.INTERPRETER_ONLY_OPCODES | set(BUILDERS) >= names


# ---------------------------------------------------------------- programs

def primes(n: int) -> List[int]:
    sieve = [True] * n
    results: List[int] = []
    for i in range(2, n):
        if sieve[i]:
            results.append(i)
            for j in range(i * i, n, i):
                sieve[j] = False
    return results


def escape(size: int, limit: int) -> Tuple[int, float]:
    total = 0
    last = 0.0
    for row in range(size):
        for column in range(size):
            x, y, steps = 0.0, 0.0, 0
            while steps < limit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + 3.2 * column / size - 2.2, 2.0 * x * y + 2.4 * row / size - 1.2
                steps += 1
            total += steps
            last += x // 0.3 + y % 0.7
    return total, last


def count(words: List[str]) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = len(word)
    return counts


def gaps(values: List[int]) -> int:
    last: Optional[int] = None
    total = 0
    for value in values:
        if last is not None:
            total += (value - last) * 3 // 2 - (value % 7)
        last = value if value % 3 != 0 else None
    return total


def swaps(values: List[float]) -> List[float]:
    for i in range(len(values)):
        for j in range(1, len(values) - i):
            if values[j - 1] > values[j]:
                values[j - 1], values[j] = values[j], values[j - 1]
    return values


def pairs(n: int) -> List[Tuple[int, float]]:
    results: List[Tuple[int, float]] = []
    for i in range(n):
        pair = (i * i, float(i) / 3.0)
        results.append(pair)
        if results[i // 2][0] > 20:
            results[-1] = (abs(-i), max(pair[1], 2.5))
    return results


def halves(n: int) -> int:
    total = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        total += n
    return total


def curve(n: int) -> Tuple[float, int]:
    total = 0.0
    whole = 0
    for i in range(n):
        x = float(i) * 0.37 - 2.0
        total += math.sin(x) * math.exp(-x) + x**2 - (i + 1) ** 0.5 + float(x > 1.0)
        whole += int(x) + math.floor(x) + int(i**2) % 5
    return total, whole


def roots(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += float(i - 5) ** -1.5
    return total


CALLS = {
    "curve": (curve, lambda: (17,)),
    "primes": (primes, lambda: (60,)),
    "escape": (escape, lambda: (4, 9)),
    "count": (count, lambda: (["a", "bc", "a", "def", "bc", "a"],)),
    "gaps": (gaps, lambda: ([5, 1, 9, 4, 6, 2, 8, 11],)),
    "swaps": (swaps, lambda: ([3.5, -1.0, float("inf"), 2.25, 0.0, -7.5],)),
    "pairs": (pairs, lambda: (9,)),
    "halves": (halves, lambda: (27,)),
}


@needs_llvm
@pytest.mark.parametrize("path", PROGRAMS, ids=[str(path.relative_to(FOLDER)) for path in PROGRAMS])
def test_reference_programs_with_machine_code(path, compile_before_use, capsys):
    """Reference programs behave identically with machine code for all compilable loops."""
    compile_before_use()
    program = read(path)
    main = program.load()
    if program.runtime_error is None:
        ts.jit.script(main)()
    else:
        with pytest.raises(Exception) as raised:
            ts.jit.script(main)()
        assert program.runtime_error[1] in str(raised.value)
    assert capsys.readouterr().out.splitlines() == program.output


@needs_llvm
@pytest.mark.parametrize("name", CALLS)
def test_results_are_the_same(name, compile_before_use):
    function, arguments = CALLS[name]
    expected = outcome(fresh(function), *arguments())
    compile_before_use()
    scripted = fresh(function)
    assert outcome(scripted, *arguments()) == expected
    assert scripted.compiled_code.machine_code is not None


@needs_llvm
@pytest.mark.parametrize("name", CALLS)
def test_side_exit_at_any_instruction(name, compile_before_use):
    function, arguments = CALLS[name]
    expected = outcome(fresh(function), *arguments())
    compile_before_use(forced=True)
    scripted = fresh(function)
    scripted.compiled_code
    many = 1 << 40
    force_exit(many)
    assert outcome(scripted, *arguments()) == expected
    ran = many - force_exit(-1)
    assert ran > 20
    for instructions in {*range(min(ran, 300)), *range(0, ran, max(ran // 200, 1))}:
        force_exit(instructions)
        assert outcome(scripted, *arguments()) == expected, instructions
        assert force_exit(-1) < 0


@needs_llvm
@pytest.mark.parametrize("name", CALLS)
def test_fuel_is_the_same(name, compile_before_use):
    function, arguments = CALLS[name]

    def within(scripted, fuel):
        with ts.limits(fuel=fuel):
            return outcome(scripted, *arguments())

    plain = fresh(function)
    plain.compiled_code
    amounts = [*range(1, 120), *range(120, 1200, 37), 5000]
    expected = [within(plain, fuel) for fuel in amounts]
    compile_before_use()
    scripted = fresh(function)
    scripted.compiled_code
    assert [within(scripted, fuel) for fuel in amounts] == expected
    assert any("fuel" in text for _, text, _ in expected) and expected[-1][0] == "result"


@needs_llvm
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 21])
def test_suspension(steps, compile_before_use):
    expected = fresh(escape)(4, 9)
    compile_before_use()
    program = fresh(escape).start(4, 9)
    turns = 0
    while not program.run(steps=steps):
        turns += 1
    assert turns > 2 and program.future.wait() == expected


# ---------------------------------------------------------------- arithmetic

def ints(xs: List[int], ys: List[int]) -> List[int]:
    results: List[int] = []
    for i in range(len(xs)):
        x, y = xs[i], ys[i]
        results.append(x + y)
        results.append(x - y)
        results.append(x * y)
        results.append(x & y)
        results.append(x | y)
        results.append(x ^ y)
        results.append(x << y)
        results.append(x >> y)
        results.append(min(x, y))
        results.append(max(x, y))
        results.append(-x)
        results.append(abs(x))
        results.append(int(x < y) + 2 * int(x <= y) + 4 * int(x == y) + 8 * int(x != y) + 16 * int(bool(x)))
        results.append(x // 7)
        results.append(x % 7)
        results.append(x // -3)
        results.append(x % -3)
        results.append(x // -1)
        results.append(x % -1)
        results.append(x % 64)
        results.append(x // 64)
        if y != 0:
            results.append(x // y)
            results.append(x % y)
    return results


def floats(xs: List[float], ys: List[float]) -> List[float]:
    results: List[float] = []
    for i in range(len(xs)):
        x, y = xs[i], ys[i]
        results.append(x + y)
        results.append(x - y)
        results.append(x * y)
        results.append(x / y)
        results.append(x // y)
        results.append(x % y)
        results.append(x * y + x)
        results.append(x * y - x)
        results.append(min(x, y))
        results.append(max(x, y))
        results.append(-x)
        results.append(abs(x))
        results.append(float(int(x)))
        results.append(float(int(x < y) + 2 * int(x <= y) + 4 * int(x == y) + 8 * int(x != y) + 16 * int(bool(x))))
        if not x < y:
            results.append(1.0)
        if not x <= y:
            results.append(2.0)
    return results


@needs_llvm
def test_ints_wrap_around(compile_before_use):
    edges = [0, 1, -1, 2, -2, 7, -7, 63, 64, 65, -64, 3037000500, 2**31, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1]
    xs, ys = [x for x in edges for _ in edges], edges * len(edges)
    expected = fresh(ints)(xs, ys)
    compile_before_use()
    assert fresh(ints)(xs, ys) == expected


@needs_llvm
def test_floats_follow_ieee(compile_before_use):
    edges = [0.0, -0.0, 1.0, -1.0, 0.1, -7.3, 2.5e-310, 1e308, 9.3e18, -9.3e18, 2.0**63, float("inf"), float("-inf"), float("nan")]
    xs, ys = [x for x in edges for _ in edges], edges * len(edges)
    expected = fresh(floats)(xs, ys)
    compile_before_use()
    assert [x.hex() for x in fresh(floats)(xs, ys)] == [x.hex() for x in expected]


def by(xs: List[int], divisors: List[int]) -> int:
    total = 0
    for i in range(len(xs)):
        total += xs[i] // divisors[i]
        total += xs[i] % divisors[i]
    return total


def beyond(xs: List[int], n: int) -> int:
    total = 0
    for i in range(n):
        total += xs[i] + xs[-i]
    return total


def stop(n: int) -> int:
    total = 0
    for i in range(n):
        total += i
        if total > 40:
            raise ValueError("too much")
    return total


@needs_llvm
@pytest.mark.parametrize(
    "function, arguments",
    [(roots, (9,)), (by, ([1, 2, 3, 4], [1, 2, 0, 4])), (beyond, ([1, 2, 3], 9)), (stop, (30,)), (stop, (5,))],
)
def test_errors_are_the_same(function, arguments, compile_before_use):
    expected = outcome(fresh(function), *arguments)
    compile_before_use()
    scripted = fresh(function)
    assert outcome(scripted, *arguments) == expected
    assert scripted.compiled_code.machine_code is not None


# ---------------------------------------------------------------- time of compilation

def endless(n: int) -> int:
    i = 0
    while n > 0:
        i = (i * 3 + n) % 1000003
    return i


@needs_llvm
def test_deadline_ends_a_loop(compile_before_use):
    compile_before_use()
    scripted = fresh(endless)
    scripted.compiled_code
    before = time.monotonic()
    with pytest.raises(ts.errors.LimitExceeded), ts.limits(seconds=0.05):
        scripted(1)
    assert time.monotonic() - before < 5


@pytest.fixture
def background_compiler():
    register_compiler(background_compilation._enqueue, 10_000)
    yield
    background_compilation.wait_until_idle()
    register_compiler(None, 0)


@needs_llvm
def test_hot_loops_are_compiled_in_the_background(background_compiler):
    scripted = fresh(escape)
    expected = scripted(40, 50)
    background_compilation.wait_until_idle()
    assert scripted.compiled_code.machine_code is not None and not background_compilation.failures
    assert scripted(40, 50) == expected


@needs_llvm
def test_report_shows_pending_compilation(monkeypatch):
    """The report shows a pending compilation without waiting for the compiler."""
    seen, may_compile = threading.Event(), threading.Event()

    def compile_later(code):
        seen.set()
        assert may_compile.wait(60)
        return compile_now(code)

    compile_now = background_compilation.compile_now
    monkeypatch.setattr(background_compilation, "compile_now", compile_later)
    monkeypatch.setattr("ts.runtime.plan_report.is_enabled", True)
    scripted, other = fresh(halves), fresh(escape)
    plans = [str(scripted.plan)]
    background_compilation._enqueue(scripted.compiled_code)
    assert seen.wait(60)
    background_compilation._enqueue(other.compiled_code)
    plans += [str(scripted.plan), str(other.plan)]
    may_compile.set()
    background_compilation.wait_until_idle()
    plans.append(str(scripted.plan))
    states = ["become machine code once they are hot", *["are being compiled to machine code"] * 2, "are machine code"]
    for plan, words in zip(plans, states, strict=True):
        assert f"  loops {words}" in plan
    assert not background_compilation.is_compiling(scripted.compiled_code) and not background_compilation.failures


@needs_llvm
def test_short_loops_count_together(background_compiler):
    scripted = fresh(halves)
    expected = scripted(27)
    for _ in range(100):
        scripted(27)
    background_compilation.wait_until_idle()
    assert scripted.compiled_code.machine_code is not None
    assert scripted(27) == expected


def spun(n: int) -> int:
    i = 0
    for k in range(n):
        i = (i * 3 + k) % 1000003
    return i


@needs_llvm
def test_eight_threads_on_one_function(background_compiler):
    expected = spun(300_000)
    scripted = fresh(spun)
    results = []
    threads = [threading.Thread(target=lambda: results.extend(scripted(300_000) for _ in range(4))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 32
    background_compilation.wait_until_idle()
    assert scripted.compiled_code.machine_code is not None


def test_reasons_against_compilation():
    def nothing(n: int) -> int:
        return n

    assert background_compilation.rejection_reason(fresh(nothing).compiled_code) == side_exits.REASON_NO_LOOP
    assert background_compilation.rejection_reason(fresh(halves).compiled_code) == ""


def test_without_llvm_loops_are_interpreted():
    """Without llvmlite, or with TS_NATIVE=0, loops are interpreted without a message."""
    program = (
        "import sys, threading\n"
        "sys.modules.update(dict.fromkeys(['llvmlite', 'llvmlite.binding'])) if {block} else None\n"
        "import linecache, ts\n"
        "text = 'def f(n: int) -> int:\\n    t = 0\\n    for i in range(n):\\n        t += i % 7\\n    return t\\n'\n"
        "unit = ts.jit.CompilationUnit(text)\n"
        "print(unit.f(500000), unit.f(500000) > 0, threading.active_count())\n"
        "from ts.bytecode.native import background_compilation\n"
        "background_compilation.wait_until_idle()\n"
        "print(background_compilation.failures, unit.f.compiled_code.machine_code)\n"
    )
    for block, value in ((True, "1"), (False, "0")):
        environment = os.environ | {"TS_NATIVE": value}
        done = subprocess.run(
            [sys.executable, "-c", program.format(block=block)], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert done.stdout.splitlines()[1] == "[] None"


# ---------------------------------------------------------------- disk cache

@needs_llvm
def test_disk_cache_of_machine_code(tmp_path, monkeypatch):
    from ts.bytecode.native import llvm_compiler

    monkeypatch.setenv("TS_CACHE", "1")
    monkeypatch.setenv("TS_CACHE_DIR", str(tmp_path / "kept"))
    assembled = []
    assemble = llvm_compiler._assemble
    monkeypatch.setattr(llvm_compiler, "_assemble", lambda text: assembled.append(text) or assemble(text))

    def result():
        scripted = fresh(halves)
        background_compilation.compile_now(scripted.compiled_code)
        assert scripted.compiled_code.machine_code is not None
        return scripted(27)

    expected = fresh(halves)(27)
    assert result() == expected and result() == expected
    assert len(assembled) == 1
    [file] = (tmp_path / "kept").rglob("*.o")
    content = bytearray(file.read_bytes())
    for at in (0, 70, len(content) // 2, len(content) - 1):
        wrong = bytearray(content)
        wrong[at] ^= 1
        file.write_bytes(wrong)
        assert result() == expected
    assert len(assembled) == 5
    file.parent.chmod(0o777)
    assert result() == expected
    assert len(assembled) == 6


@needs_llvm
def test_machine_code_is_released_with_its_code():
    from ts.bytecode.native import llvm_compiler

    gc.collect()
    llvm_compiler._unused_trackers.clear()
    scripted = fresh(halves)
    background_compilation.compile_now(scripted.compiled_code)
    expected = scripted(27)
    del scripted
    gc.collect()
    assert len(llvm_compiler._unused_trackers) == 1
    again = fresh(halves)
    background_compilation.compile_now(again.compiled_code)
    assert not llvm_compiler._unused_trackers and again(27) == expected


# ---------------------------------------------------------------- range analysis of ints

def wheel(xs: List[int], n: int) -> int:
    total = 0
    a, b = 0, 1
    for i in range(n):
        total += xs[i % 7] * (i // 9)
        a, b = b, (a + b) % 1000000007
        total ^= b // 1000003
    return total + a


def back(xs: List[int], n: int) -> int:
    total = 0
    for i in range(n):
        k = n - 2 * i
        total += xs[k % 7] + k // 10 + xs[-1 - i % 3]
    return total


@needs_llvm
@pytest.mark.parametrize("function", [wheel, back])
@pytest.mark.parametrize("fuel", [None, 1, 2, 3, 7, 99])
def test_value_ranges_are_sound(function, fuel, compile_before_use):
    """Range analysis is correct for overflowing sums, negative indices and loops resumed at any iteration."""
    xs = [2**62, -5, 2**63 - 1, 8, -(2**63), 0, 77]
    expected = fresh(function)(xs, 100)
    compile_before_use()
    program = fresh(function).start(xs, 100)
    while not program.run(steps=fuel):
        pass
    assert program.future.wait() == expected


@needs_llvm
def test_loops_that_only_resemble_range_loops():
    """Loops whose counter starts above its bound or is changed in the body are not treated as range loops."""
    from ts._core.vm.code import Code
    from ts.bytecode.native.side_exits import find_loops
    from ts.bytecode.native.range_analysis import is_counted, jumps_to
    from ts.bytecode.native.codegen import is_simple
    from ts.bytecode.opcodes import NUMBER

    def loop(*body, start=3, guard=3):
        head = [("JUMP_LE_I64", 3 + len(body), 0, guard), ("MOVE", 1, start, 0)]
        rows = [*head, *body, ("LOOP_STEP", 2, 1, 0), ("RETURN", 1, 0, 0)]
        int_spec = fresh(halves).compiled_code.parameters[0]
        return Code(
            "loop", [(NUMBER[name], *operands) for name, *operands in rows], "iiiii", [int_spec], [0, 5], result=int_spec
        )

    def counted(code):
        return is_counted(code, code.size - 2, jumps_to(code))

    step = ("ADD_I64", 2, 2, 1)
    assert counted(loop(step))
    assert not counted(loop(step, start=4))
    assert not counted(loop(step, guard=4))
    assert not counted(loop(("ADD_I64", 1, 1, 4)))
    assert not counted(loop(("ADD_I64", 0, 0, 4)))
    assert not counted(loop(("MOVE", 0, 4, 0)))
    ended = loop(("JUMP_EQ_I64", 4, 1, 4))
    assert counted(ended) and not is_simple(ended, find_loops(ended)[0])
    within = loop(("JUMP_EQ_I64", 3, 1, 4))
    assert counted(within) and is_simple(within, find_loops(within)[0])


@needs_llvm
def test_quotients_by_constants():
    from ts.bytecode.native.opcode_codegen import _is_power

    for divisor in (3, 5, 7, 10, 1000003, 1000000007, 2**62 + 1, 2**63 - 1):
        assert not _is_power(divisor)
        text = f"def f(x: int) -> int:\n    t = 0\n    for i in range(x - 4, x + 1):\n        t += max(i, 0) // {divisor} - max(i, 0) % {divisor}\n    return t\n"
        plain, fast = ts.jit.CompilationUnit(text).f, ts.jit.CompilationUnit(text).f
        assert background_compilation.compile_now(fast.compiled_code) == ""
        for x in (5, divisor - 1, divisor, divisor + 1, 2 * divisor, 2**63 - 1, 2**63 - 2, 2**62):
            x = min(x, 2**63 - 1)
            assert fast(x) == plain(x), (divisor, x)


# ---------------------------------------------------------------- random programs

WRITERS = {
    "numbers": (ProgramWriter, ARGUMENTS),
    "containers": (ContainerProgramWriter, CONTAINER_ARGUMENTS),
    "classes": (ClassProgramWriter, CONTAINER_ARGUMENTS),
}


@needs_llvm
@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("seed", range(how_many(6)))
def test_random_programs(kind, seed, compile_before_use):
    """Compare random programs with and without forced side exits."""
    writer, argument_tuples = WRITERS[kind]
    choose = random.Random(seed).randrange
    source = writer(choose).program()
    expected = [fuzz_outcome(ts.jit.script(as_functions(source)["f"]), arguments) for arguments in argument_tuples]
    compile_before_use(forced=True)
    scripted = ts.jit.script(as_functions(source)["f"])
    for arguments, result in zip(argument_tuples, expected):
        force_exit(1 << 40)
        assert fuzz_outcome(scripted, arguments) == result, source
        ran = (1 << 40) - force_exit(-1)
        for instructions in {choose(ran) for _ in range(12)} if ran else ():
            force_exit(instructions)
            assert fuzz_outcome(scripted, arguments) == result, (source, instructions)
            force_exit(-1)
