"""Execution counts of instructions: counted programs return the same results, with the expected counts."""

from typing import List

import pytest

import ts
from ts.bytecode.instruction_counter import InstructionCounter, leaders
from ts.bytecode.opcodes import NUMBER, OPCODES
from ts.runtime.instruction_counting import CountedFunction


def total(n: int) -> int:
    s = 0
    for i in range(n):
        s += i * i
    return s


def helper_of_even(n: int) -> int:
    s = 0
    while n > 0:
        n = n // 3
        s += 1
    return s


def helper(n: int) -> int:
    if n % 2 == 0:
        return helper_of_even(n)
    return 0


def recursive(n: int) -> int:
    if n <= 0:
        return 0
    return n + recursive(n - 1)


def calls(values: List[int]) -> int:
    s = 0
    for v in values:
        s += recursive(v)
    return s


def fails(n: int) -> int:
    for i in range(n):
        if i == 3:
            raise ValueError("three")
    return n


def counted(function, *arguments):
    counter = InstructionCounter()
    scripted = ts.jit.script(function)
    assert CountedFunction(scripted, counter)(*arguments) == scripted(*arguments)
    return counter


def test_loop_counts():
    """Instructions of a loop count once per iteration."""
    result = counted(total, 10).instructions()
    assert result["MUL_I64"] == result["ADD_I64"] == result["LOOP_STEP"] == 10
    assert result["RETURN"] == 1 and "BREAK" not in result
    assert counted(total, 0).instructions()["MUL_I64"] == 0


def test_pairs():
    """Pairs count consecutive instructions, including the last and first of a loop."""
    counter = counted(total, 10)
    pairs = counter.pairs()
    assert sum(pairs.values()) == sum(counter.instructions().values()) - 1
    assert pairs["MUL_I64", "ADD_I64"] == pairs["ADD_I64", "LOOP_STEP"] == 10
    assert pairs["LOOP_STEP", "MUL_I64"] == 9


@pytest.mark.parametrize("n", [0, 1, 6, 64])
def test_branches_and_callees(n):
    """Instructions of called functions count."""
    result = counted(helper, n).instructions()
    assert result["FLOORDIV_I64"] == (helper_of_even(n) if n % 2 == 0 else 0)


def test_recursion():
    """Each recursive call is counted."""
    counter = InstructionCounter()
    function = CountedFunction(ts.jit.script(recursive), counter)
    assert function(5) == 15
    assert counter.instructions()["CALL"] == 5
    assert function(300) == 45150


def test_lists():
    result = counted(calls, [1, 2, 3]).instructions()
    assert result["LIST_GET_SCALAR"] == 3 and result["CALL"] == 3 + 1 + 2 + 3


def test_failing_function():
    """The function's error propagates, and instructions before it are counted."""
    counter = InstructionCounter()
    with pytest.raises(ts.jit.Error, match="three"):
        CountedFunction(ts.jit.script(fails), counter)(10)
    assert counter.instructions()["RAISE"] == 1


def test_counts_by_instruction():
    """Counts by instruction, for listings of source lines."""
    counter = InstructionCounter()
    function = CountedFunction(ts.jit.script(total), counter)
    function(7)
    times = counter.counts_of(function.program)
    rows = function.program.rows
    assert {times[at] for at, row in enumerate(rows) if OPCODES[row[0]].name == "LOOP_STEP"} == {7}


def test_basic_block_leaders():
    """Basic blocks begin at jump targets and after jumps, calls and returns."""
    rows = [(NUMBER[name], 0, 0, 0) for name in ("ADD_I64", "LOOP_STEP", "CALL", "RETURN")]
    assert leaders(rows) == [0, 2, 3]


def test_benchmark_table():
    """`python -m benchmarks opcodes` prints the documented counts for all its programs."""
    from benchmarks import opcodes, programs

    counter = opcodes.counted(programs.sum_loop, (100,))
    assert counter.instructions()["LOOP_STEP"] == 100
    assert len(opcodes.PROGRAMS) == 7
