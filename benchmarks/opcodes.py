"""Measure the interpreter loop: instructions per second and the most frequent instruction pairs.

Input: the scalar programs. Output: two tables. Instructions are counted in a copy of the program with
counters (`ts.bytecode.instruction_counter`); times are measured without counters. A superinstruction counts
as two instructions.
"""

from __future__ import annotations

import time
from collections import Counter as Bag
from collections.abc import Callable
from typing import Any

import ts
from benchmarks import peer_runtimes, programs
from benchmarks.scalar_programs import topic_words
from benchmarks.timing import repetitions, show_seconds
from ts.bytecode.instruction_counter import InstructionCounter
from ts.bytecode.opcodes import PAIRS
from ts.runtime.instruction_counting import CountedFunction

MAX_PAIRS = 20  # maximum number of pairs in the table
PROGRAMS: dict[Callable[..., Any], tuple[Any, ...]] = {  # arguments for a run of about a millisecond
    programs.sum_loop: (30_000,),
    programs.fibonacci: (30_000,),
    programs.collatz: (300,),
    programs.mandelbrot: (24, 100),
    programs.sieve: (20_000,),
    programs.word_count: (topic_words()[:6_000],),
    programs.calls: (20_000,),
}


def counted(function: Callable[..., Any], arguments: tuple[Any, ...]) -> InstructionCounter:
    """Count the instructions of a call and check its result."""
    counter = InstructionCounter()
    if CountedFunction(ts.jit.script(function), counter)(*arguments) != function(*arguments):
        raise AssertionError(f"{function.__name__} returns a different result when instructions are counted")
    return counter


def report(rounds: int) -> str:
    """Return the two tables."""
    lines = ["### Instructions of the scalar programs", ""]
    lines += ["| | instructions | time | a second | each |", "|---|---|---|---|---|"]
    pairs: Bag[tuple[str, str]] = Bag()
    for function, arguments in PROGRAMS.items():
        # measured first, before counting calls start background compilation to machine code
        timed = peer_runtimes.interpreted(function)
        counter = counted(function, arguments)
        number = sum(counter.instructions().values())
        seconds = best(timed, arguments, rounds)
        cells = f"{number:,} | {show_seconds(seconds)} | {number / seconds / 1e6:,.0f} million"
        lines.append(f"| {function.__name__.replace('_', ' ')} | {cells} | {seconds / number * 1e9:.2f} ns |")
        found = counter.pairs()
        total = sum(found.values())
        for pair, times in found.items():  # all programs have equal weight
            pairs[pair] += round(1e6 * times / total / len(PROGRAMS))
    lines += ["", f"### The {MAX_PAIRS} pairs that are most frequent", ""]
    lines += ["| first | second | of all pairs | one instruction |", "|---|---|---|---|"]
    for (first, second), times in pairs.most_common(MAX_PAIRS):
        joined = "yes" if (first, second) in PAIRS else ""
        lines.append(f"| {first} | {second} | {times / 1e4:.1f}% | {joined} |")
    return "\n".join(lines)


def best(function: Callable[..., Any], arguments: tuple[Any, ...], rounds: int) -> float:
    """Return the seconds of the fastest call."""
    count = repetitions(lambda: function(*arguments))
    seconds = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            function(*arguments)
        seconds = min(seconds, (time.perf_counter() - start) / count)
    return seconds
