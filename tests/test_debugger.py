"""Step debugger: transcripts of commands and output."""

import gc
import re
import shlex
import sys
import threading
import time
from pathlib import Path
from textwrap import dedent

import pytest

import ts
from tests import debugger_programs as programs
from tests.program_files import FOLDER, all_programs, read
from ts.cli.main import main as command_line
from ts.errors import DebuggerQuit
from ts.debugger.debugger import Debugger

ROOT = Path(__file__).parent.parent
TEXT = """\
def sign(x: int) -> int:
    if x < 0:
        return -1
    if x == 0:
        return 0
    return 1

def first_multiple(xs: List[int], of: int) -> int:
    found = -1
    for x in xs:
        if x % of != 0:
            continue
        found = x
        break
    return found

def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

def factorial(n: int) -> int:
    if n <= 1:
        return 1
    rest = factorial(n - 1)
    return n * rest

def quotient(a: int, b: int) -> int:
    c = a + 1
    return c // b

def average(xs: List[int]) -> int:
    total = sum(xs)
    return quotient(total, len(xs))

def check(x: int) -> int:
    if x > 3:
        raise ValueError("x is " + str(x))
    return x

def hidden(x: int) -> int:
    for i in range(3):
        y = i + x
        x = y * 2
    t = (x, "a")
    pairs = [(k, v) for k, v in {"a": 1}.items()]
    z = t
    return z[0]
"""
UNIT = ts.jit.CompilationUnit(TEXT)


def transcript(function, commands, *args):
    """Return the transcript of a session and the function's result."""
    run = ts.debug(function, commands)
    result = run(*args)
    return run.transcript, result


def stop_lines(text):
    """Return the line numbers at which a transcript stopped, or that it showed."""
    return [int(line.rpartition(":")[2]) for line in text.splitlines() if line.startswith("> ")]


def transcript_answers(text):
    """Return the answers of a debugger transcript, without locations and commands."""
    return [line for line in text.splitlines() if not line.startswith(("> ", "-> ", "  ", "(ts)"))]


# ---- stepping ----------------------------------------------------------------------------------------------


def test_complete_session():
    text, result = transcript(
        UNIT.collatz, ["b 19 if steps == 3", "c", "locals", "p n + 1", "clear 1", "c"], 6
    )
    assert result == 8
    assert text == dedent("""\
        > collatz, <string>:18
        ->     steps = 0
        (ts) b 19 if steps == 3
        Breakpoint 1 at <string>:19, in collatz, if steps == 3
        (ts) c
        Breakpoint 1
        > collatz, <string>:19
        ->     while n != 1:
        (ts) locals
        n = 5
        steps = 3
        (ts) p n + 1
        6
        (ts) clear 1
        Removed breakpoint 1
        (ts) c
        """)


@pytest.mark.parametrize("x, lines, result", [(-5, [2, 3], -1), (0, [2, 4, 5], 0), (7, [2, 4, 6], 1)])
def test_early_returns(x, lines, result):
    """Each executed line stops once, in Python's order; lines after a return do not stop."""
    text, returned = transcript(UNIT.sign, ["s"] * 9, x)
    assert (stop_lines(text), returned) == (lines, result)


def test_loop_with_break_and_continue():
    text, result = transcript(UNIT.first_multiple, ["n"] * 20, [5, 6, 9], 3)
    assert (stop_lines(text), result) == ([9, 10, 11, 12, 11, 13, 14, 15], 6)


def test_while_stops_at_each_test_of_its_condition():
    assert stop_lines(transcript(UNIT.collatz, ["s"] * 20, 4)[0]) == [18, 19, 20, 21, 19, 20, 21, 19, 22]


def test_step_enters_calls_and_next_skips_them():
    assert stop_lines(transcript(UNIT.average, ["s"] * 9, [4, 4])[0]) == [35, 36, 31, 32]
    assert stop_lines(transcript(UNIT.average, ["n"] * 9, [4, 4])[0]) == [35, 36]


def test_finish_shows_what_is_returned():
    text, _ = transcript(UNIT.average, ["s", "s", "finish", "p c", "n"], [4, 5])
    assert stop_lines(text) == [35, 36, 31, 32]
    assert transcript_answers(text) == ["--Return-- 5", "10"]


def test_an_empty_line_repeats_a_step():
    assert stop_lines(transcript(UNIT.average, ["n", ""], [1])[0]) == [35, 36]


def test_recursion():
    """`next` stays in its frame of a recursive function; each frame has its own variables."""
    commands = ["tbreak factorial if n == 1", "c", "where", "up", "locals", "finish", "n", "n"]
    text, result = transcript(UNIT.factorial, commands, 4)
    assert result == 24
    assert stop_lines(text) == [25, 25, 25, 27, 28, 28, 28]
    assert "n = 2" in transcript_answers(text)
    assert "--Return-- 2" in transcript_answers(text)
    assert text.count("  factorial, <string>:27\n") == 3


def test_the_end_of_the_commands_lets_the_program_run():
    assert transcript(UNIT.collatz, ["b 20", "c"], 27)[1] == 111


def test_quit_ends_the_program():
    run = ts.debug(UNIT.collatz, ["q"])
    with pytest.raises(DebuggerQuit):
        run(6)


def test_calls_keep_breakpoints():
    run = ts.debug(UNIT.average, ["b quotient", "c", "c", "c", "clear all", "c"])
    assert run([1, 1]) == 1
    assert run([2, 2]) == 2
    assert stop_lines(run.transcript) == [35, 31, 35, 31]


# ---- breakpoints -------------------------------------------------------------------------------------------


def test_breakpoint_at_a_line_without_code_is_at_the_next_one():
    text, _ = transcript(UNIT.average, ["b 30", "b <string>:23", "b"], [1])
    assert transcript_answers(text)[:2] == [
        "Breakpoint 1 at <string>:31, in quotient",
        # The text of a unit is one source; only the called functions are compiled.
        "Breakpoint 2 at <string>:31, in quotient",
    ]


def test_breakpoint_in_missing_code():
    text, result = transcript(UNIT.sign, ["b elsewhere.py:3", "b nobody", "b 1 2", "clear 7", "b", "c"], 1)
    assert result == 1
    assert transcript_answers(text) == [
        "Breakpoint 1 at elsewhere.py:3 (pending: no code is loaded there)",
        "Breakpoint 2 at nobody (pending: no code is loaded there)",
        "*** expected LINE, FILE:LINE or FUNCTION, got '1 2'",
        "*** no such breakpoint",
        "Breakpoint 1 at elsewhere.py:3 (pending: no code is loaded there)",
        "Breakpoint 2 at nobody (pending: no code is loaded there)",
    ]


def test_condition_that_fails_stops():
    text, _ = transcript(UNIT.collatz, ["b 21 if nothing > 1", "c", "clear", "c"], 2)
    assert stop_lines(text) == [18, 21]
    assert "*** condition of breakpoint 1: NameError: name 'nothing' is not defined" in transcript_answers(text)


def test_invalid_condition_is_rejected():
    text, _ = transcript(UNIT.collatz, ["b 21 if n >", "b"], 2)
    assert transcript_answers(text) == ["*** invalid syntax (<condition>, line 1)", "No breakpoints."]


def test_breakpoint_does_not_hide_a_step():
    """A breakpoint with a false condition is still a stop for stepping."""
    assert stop_lines(transcript(UNIT.collatz, ["b 20 if n == 99", "n", "n"], 2)[0]) == [18, 19, 20]


# ---- values ------------------------------------------------------------------------------------------------


def test_expressions():
    commands = ["n", "p xs[0], total", "xs", "whatis xs", "whatis total + 1", "p self", "p xs[", "p", "args"]
    text, _ = transcript(UNIT.average, commands, [1, 2])
    assert transcript_answers(text) == [
        "(1, 3)",
        "[1, 2]",
        "List[int]",
        "int",
        "*** NameError: name 'self' is not defined",
        "*** SyntaxError: '[' was never closed (<debugger>, line 1)",
        "*** expected an expression",
        "xs = [1, 2]",
    ]


def test_variables_that_no_code_reads_keep_their_values():
    text, result = transcript(UNIT.hidden, ["b 50", "c", "locals", "whatis t"], 1)
    assert result == 16
    assert transcript_answers(text)[2:] == [
        "x = 16",
        "t = (16, 'a')",
        "pairs = [('a', 1)]",
        "z = (16, 'a')",
        "Tuple[int, str]",
    ]


def test_variables_of_callers_keep_their_values():
    """Variables of a caller that are dead after the call are still shown."""
    text, _ = transcript(
        UNIT.average, ["b quotient", "c", "up", "locals", "down", "locals", "down", "up", "up"], [3]
    )
    assert transcript_answers(text)[1:] == [
        "Breakpoint 1",
        "xs = [3]",
        "total = 3",
        "a = 3",
        "b = 1",
        "*** this is the innermost call",
        "*** this is the outermost call",
    ]


def test_printing_changes_nothing():
    assert transcript(UNIT.average, ["n", "p xs.clear()", "p xs"], [1, 3])[1] == 2


def test_list_marks_the_line_and_the_breakpoints():
    text, _ = transcript(UNIT.quotient, ["b 32", "l 32", "l", "l", "l"], 1, 1)
    assert "  31  ->     c = a + 1\n  32 B       return c // b\n" in text
    assert transcript_answers(text)[-1].startswith("*** the source has lines ")


def test_help_names_all_commands():
    text, _ = transcript(UNIT.sign, ["help"], 1)
    for name in "break tbreak clear step next finish continue where up down list args locals print whatis quit".split():
        assert name in text


# ---- classes, modules, interfaces, tasks -------------------------------------------------------------------


def test_methods():
    commands = [
        "b Account.deposit",
        "c",
        "p self.balance, self.history",
        "up",
        "c",
        "n",
        "p self",
        "clear all",
        "c",
    ]
    text, result = transcript(programs.save, commands, [5, 7])
    assert result == 22
    assert stop_lines(text) == [22, 16, 24, 16, 17]
    assert transcript_answers(text) == [
        "Breakpoint 1 at debugger_programs.py:16, in deposit",
        "Breakpoint 1",
        "(10, [])",
        "Breakpoint 1",
        "Account(owner='ann', history=[5], balance=22)",
        "Removed breakpoint 1",
    ]


def test_partially_initialized_object():
    text, _ = transcript(programs.save, ["s", "s", "p self", "p self.owner"], [5])
    assert transcript_answers(text) == ["Account(owner='ann', balance=0, history unset)", "'ann'"]


def test_modules():
    commands = ["b Scale.forward", "c", "p self.by", "c", "where", "p self.by", "n", "n"]
    text, result = transcript(programs.Chain(), commands, ts.ones(2))
    assert result.tolist() == [6.0, 6.0]
    assert stop_lines(text) == [45, 34, 34, 34, 35, 47]
    assert transcript_answers(text) == [
        "Breakpoint 1 at debugger_programs.py:34, in forward",
        "Breakpoint 1",
        "2.0",
        *["Breakpoint 1", "3.0"],
    ]
    assert "  forward, debugger_programs.py:46\n" in text


def test_interfaces():
    """A breakpoint in an interface method resolves at the call."""
    text, result = transcript(programs.doubled_area, ["b Square.area", "c", "where"], 3.0)
    assert result == 18.0
    assert stop_lines(text) == [66, 61, 61]


def test_tasks_stop_at_breakpoints_only():
    text, result = transcript(
        programs.tasks, ["b task if x == 1", "n", "n", "n", "n", "c", "p x", "n", "c"], 3
    )
    assert result == 33
    lines = text.splitlines()
    assert lines.count("In a forked program:") == 2
    assert lines.count("> task, debugger_programs.py:71") == 1
    assert lines.count("> task, debugger_programs.py:72") == 1


def test_calls_outside_of_the_debugger_are_unaffected():
    before = programs.calls_to_third
    scripted = ts.jit.script(UNIT.collatz)
    bytecode = scripted.bytecode
    ts.debug(scripted, ["b 20", "n"])(6)
    assert scripted.bytecode == bytecode
    assert "BREAK" not in bytecode
    assert before is programs.calls_to_third


# ---- failures ----------------------------------------------------------------------------------------------


def test_failure_stops_with_its_frames():
    run = ts.debug(UNIT.average, ["c", "where", "p c, b", "up", "p xs, total", "n"])
    with pytest.raises(RuntimeError, match="division by 0"):
        run([])
    assert run.transcript == dedent("""\
        > average, <string>:35
        ->     total = sum(xs)
        (ts) c
        RuntimeError: division by 0
        The program ends here. Its variables can still be inspected.
        > quotient, <string>:32
        ->     return c // b
        (ts) where
          average, <string>:36
        ->     return quotient(total, len(xs))
        > quotient, <string>:32
        ->     return c // b
        (ts) p c, b
        (1, 0)
        (ts) up
        > average, <string>:36
        ->     return quotient(total, len(xs))
        (ts) p xs, total
        ([], 0)
        (ts) n
        """)


@pytest.mark.parametrize("last", ["c", "q"])
def test_raise_stops_and_propagates(last):
    run = ts.debug(UNIT.check, ["c", "locals", last])
    with pytest.raises(ts.jit.Error, match="x is 5"):
        run(5)
    assert transcript_answers(run.transcript) == [
        "ValueError: x is 5",
        "The program ends here. Its variables can still be inspected.",
        "x = 5",
    ]


def test_failure_of_a_task_stops_at_its_wait():
    run = ts.debug(programs.failing_task, ["c", "where"])
    with pytest.raises(RuntimeError, match="list index out of range"):
        run(2)
    assert stop_lines(run.transcript) == [86, 87, 87]


def test_limits_hold():
    run = ts.debug(programs.forever, ["b 110 if n == 10", "c", "clear", "c"])
    with pytest.raises(ts.errors.FuelExceeded), ts.limits(fuel=10_000):
        run()
    assert transcript_answers(run.transcript)[-2].startswith("FuelExceeded: ")


def test_interrupt_stops_at_the_next_line():
    """`debugger.interrupt` stops a running program at the next line, as Ctrl-C does."""
    commands = iter(["c", "p n > 0", "q"])
    lines = []

    def interrupt():
        while not debugger.interrupt():  # False until the program runs
            time.sleep(0.01)

    def command():
        text = next(commands)
        if text == "c":
            threading.Timer(0.2, interrupt).start()
        return text

    debugger = Debugger(command, lines.append)
    with pytest.raises(DebuggerQuit):
        debugger.run(ts.jit.script(programs.forever), (), {})
    assert lines[2] == "Interrupted"
    assert lines[-1] == "True"


# ---- breakpoint() ------------------------------------------------------------------------------------------


def test_breakpoint_call_stops_a_debugged_program():
    text, result = transcript(programs.calls_to_third, ["c", "p total", "where", "n", "c"], 4)
    assert result == 7
    assert stop_lines(text) == [104, 98, 98, 99]
    assert transcript_answers(text) == ["breakpoint() in to_third", "1"]


@pytest.fixture
def fresh():
    """Script `to_third` without code from earlier compilations."""
    from ts.runtime.function import forget

    for function in (programs.to_third, programs.calls_to_third):
        forget(function)
    return ts.jit.script(programs.calls_to_third)


def test_breakpoint_call_passes_by_without_a_terminal(fresh, monkeypatch):
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    assert fresh(4) == 7


def test_breakpoint_call_calls_the_hook(fresh, monkeypatch):
    calls = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: calls.append(1))
    assert fresh(4) == 7
    assert calls == [1]
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    assert fresh(4) == 7
    assert calls == [1]


def test_breakpoint_call_costs_nothing_when_they_are_off(fresh, monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    assert "BREAK" not in ts.jit.script(programs.to_third).bytecode
    assert fresh(4) == 7


def test_breakpoint_call_opens_the_debugger_on_a_terminal(fresh, monkeypatch, capsys):
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    typed = iter(["p total", "n", "p i", "c"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    assert fresh(4) == 7
    out = capsys.readouterr().out
    assert stop_lines(out) == [98, 99]
    assert transcript_answers(out) == ["breakpoint() in to_third", "1", "2"]


def test_breakpoint_call_in_code_and_graph():
    scripted = ts.jit.script(programs.to_third)
    assert "breakpoint()" in scripted.code
    assert "prim::Breakpoint()" in str(scripted.graph)
    assert str(ts.parse_ir(str(scripted.graph))).count("prim::Breakpoint()") == 1


def test_breakpoint_takes_no_arguments():
    with pytest.raises(ts.jit.FrontendError, match="breakpoint takes no arguments"):
        ts.jit.CompilationUnit("def f(x: int):\n    breakpoint(x)\n").f


# ---- the command line --------------------------------------------------------------------------------------


def test_command_line(tmp_path, capsys, monkeypatch):
    program = tmp_path / "debugged_program.py"
    program.write_text("def twice(x: int) -> int:\n    y = x * 2\n    return y\n")
    typed = iter(["p y", "c"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    assert command_line(["debug", "-c", "b 3", "-c", "c", f"{program}:twice", "21"]) == 0
    assert transcript_answers(capsys.readouterr().out) == [
        "Breakpoint 1 at debugged_program.py:3, in twice",
        "Breakpoint 1",
        "p y",
        "42",
        "c",
        "returned 42",
    ]


def test_command_line_ends_at_the_end_of_input(tmp_path, monkeypatch, capsys):
    program = tmp_path / "debugged_program.py"
    program.write_text("def twice(x: int) -> int:\n    return x * 2\n")

    def at_end(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", at_end)
    assert command_line(["debug", f"{program}:twice", "21"]) == 0
    assert "returned" not in capsys.readouterr().out


def test_session_in_the_documentation(capsys):
    """The transcript in `docs/how-to/use-the-step-debugger.md` equals the output of its commands."""
    page = (ROOT / "docs" / "how-to" / "use-the-step-debugger.md").read_text()
    session = re.search(r"```\n(> .*?)```", page, re.DOTALL).group(1)
    command = re.search(r"    ts (debug .*)", page).group(1)
    given = [word for line in session.splitlines() if line.startswith("(ts) ") for word in ("-c", line[5:])]
    name, target, *arguments = shlex.split(command)
    assert command_line([name, *given, str(ROOT / target), *arguments]) == 0
    assert capsys.readouterr().out == session


# ---- all programs ------------------------------------------------------------------------------------------

STEPPED = [path for path in all_programs() if not (read(path).scripts_itself or read(path).compile_error)]


@pytest.mark.parametrize("path", STEPPED, ids=[str(path.relative_to(FOLDER)) for path in STEPPED])
@pytest.mark.filterwarnings("ignore")
def test_stepping_does_not_change_results(path, capfd):
    """Every program file prints the expected output while it is stepped line by line with inspection of all
    variables."""
    program = read(path)
    count = 0

    def command():
        nonlocal count
        count += 1
        return ("s", "locals", "where")[count % 3] if count < 2000 else None

    outputs = []
    debugger = Debugger(command, outputs.append)
    function = ts.jit.script(program.load())
    if program.runtime_error is None:
        debugger.run(function, (), {})
    else:
        with pytest.raises((RuntimeError, LookupError, ValueError, TypeError)):
            debugger.run(function, (), {})
    assert capfd.readouterr().out.splitlines() == program.output
    assert not [line for line in outputs if line.startswith("***") or ("Error:" in line and " = <" in line)]


def test_decorated_function():
    """A function that was decorated with `script` can be debugged."""

    @ts.jit.script
    def doubled(n: int) -> int:
        twice = n * 2
        return twice

    gc.collect()
    debugger = ts.debug(doubled, commands=["step", "p n", "continue"])
    assert debugger(4) == 8
    assert "4\n" in debugger.transcript
