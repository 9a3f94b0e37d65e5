"""Compile time and memory grow linearly with the program length.

A step is one executed line of the compiler's Python code, so that the tests do not depend on time; memory is the
peak of Python's allocator.
"""

import gc
import sys
import threading
import tracemalloc

import pytest

import ts
from tests.sharding import some
from ts.analysis.alias import AliasDb
from ts.bytecode.lower import lower

MAX_GROWTH = 12  # factor for 8 times the size; n log n has 8 * log(8n) / log(n), about 11 for the sizes here


def function(*lines, arguments="x: int", returns="int", result="x"):
    body = "".join(f"    {line}\n" for line in (*lines, f"return {result}"))
    return f"def f({arguments}) -> {returns}:\n{body}"


def repeated(*lines, n, **how):
    return function(*(line.format(i=i) for i in range(n) for line in lines), **how)


def joined(separator, part, n):
    return separator.join(part.format(i=i) for i in range(n))


# By name: the smaller size, and a function from size to program.
FAMILIES = {
    "lines": (10, lambda n: repeated("x = x + {i} * x - (x + {i})", n=n)),
    "names": (10, lambda n: repeated("a{i} = x + {i}", n=n)),
    "returns": (25, lambda n: repeated("if x == {i}:", "    return x + {i}", n=n)),
    "returns in loops": (8, lambda n: repeated("for i in range(x):", "    if i == {i}:", "        return {i}", n=n)),
    "ifs": (8, lambda n: repeated("if x == {i}:", "    x += {i}", n=n)),
    "elifs": (8, lambda n: function("if x == -1:", "    x = 1", *(f"elif x == {i}:\n        x += 1" for i in range(n)))),
    "loops": (8, lambda n: repeated("for i in range(x):", "    x += {i}", n=n)),
    "breaks": (10, lambda n: function("for i in range(9):", *(f"    if x == {i}:\n            break\n        x += 1" for i in range(n)))),
    "asserts": (8, lambda n: repeated("assert x != {i}", n=n)),
    "list": (30, lambda n: function(f"y = [{joined(', ', '{i}', n)}]", result="y[0]")),
    "dict": (20, lambda n: function(f"y = {{{joined(', ', '{i}: x', n)}}}", result="y[0]")),
    "tuple": (20, lambda n: function(f"y = ({joined(', ', 'x', n)})", result="y[0]")),
    "and": (12, lambda n: function(result=joined(" and ", "x > {i}", n), returns="bool")),
    "comparisons": (12, lambda n: function(result=joined(" < ", "x", n), returns="bool")),
    "sum": (20, lambda n: function(result=joined(" + ", "x", n))),
    "arguments": (20, lambda n: function(arguments=joined(", ", "x{i}: int", n), result=f"sum([{joined(', ', 'x{i}', n)}])")),
    "formatted": (20, lambda n: function(result=f"len(f'{joined(' ', '{{x}}', n)}')")),
    "brackets": (8, lambda n: function(result="(x + " * n + "x" + ")" * n)),
    "in place": (8, lambda n: repeated("y = x + {i}", "y.add_(x)", "x = x * y[{i}]", n=n, arguments="x: Tensor", returns="Tensor")),
    "tensors": (12, lambda n: repeated("x = x + {i} * x", n=n, arguments="x: Tensor", returns="Tensor")),
    "views": (8, lambda n: function("l = [x]", *["x = x.view(-1)", "l.append(x)", "x[0] = 1.0"] * n, arguments="x: Tensor", returns="Tensor")),
    "equal views": (12, lambda n: function(*["y = y + x[0]"] * n, arguments="x: Tensor, y: Tensor", returns="Tensor", result="y")),
    "with": (8, lambda n: repeated("with torch.no_grad():", "    x = x + 1", n=n, arguments="x: Tensor", returns="Tensor")),
    "calls": (10, lambda n: "def g(x: int) -> int:\n    return x * 2\n" + repeated("x = g(x) + {i}", n=n)),
}  # fmt: skip


def compiled(text):
    return ts.jit.CompilationUnit(text).f.bytecode


def steps(text):
    """Return the number of lines executed to compile a text, including deep recursion on another thread."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        compiled(text)
    finally:
        sys.settrace(before)
        threading.settrace(before)
    return count


@pytest.mark.parametrize("name", FAMILIES)
def test_steps_grow_with_the_program(name):
    size, program = FAMILIES[name]
    compiled(program(size))  # imports modules on first use
    assert steps(program(8 * size)) < MAX_GROWTH * steps(program(size))


def memory(work, argument):
    """Return the peak memory of a call in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        work(argument)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", some("lines", "calls", of=("lines", "calls", "ifs", "loops", "in place")))
def test_memory_for_registers_grows_with_the_program(name):
    """Register allocation uses memory proportional to live ranges, not to registers times instructions."""
    size, program = FAMILIES[name]
    small, large = (ts.jit.CompilationUnit(program(n)).f.graph for n in (12 * size, 96 * size))
    assert memory(lower, large) < MAX_GROWTH * memory(lower, small)


@pytest.mark.parametrize("name", some("tensors", of=("tensors", "in place")))
def test_memory_for_locations_grows_with_the_program(name):
    """Alias analysis creates locations only for values that can alias, and stores one bit per location in
    each set."""
    size, program = FAMILIES[name]
    small, large = (ts.jit.CompilationUnit(program(n)).f.graph for n in (20 * size, 160 * size))
    assert memory(AliasDb, large) < MAX_GROWTH * memory(AliasDb, small)
