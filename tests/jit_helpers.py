"""Helpers for tests of machine code: compiled functions, their outcomes, and forced side exits."""

import copy

import pytest

import ts
from ts._core.vm.native import force_exit
from ts.bytecode.native import background_compilation
from ts.ir import node

needs_llvm = pytest.mark.skipif(not background_compilation.is_available(), reason="llvmlite is not installed")

# Marks tests that replace functions of the compiler: in compiled modules, calls do not look up their names.
needs_interpreted_compiler = pytest.mark.skipif(
    not node.__file__.endswith(".py"), reason="the compiler's modules are compiled, so their functions cannot be replaced"
)


def fresh(function):
    """Script the function again, without code from earlier compilations."""
    copy = type(function)(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__annotations__ = function.__annotations__
    return ts.jit.script(copy)


def native(function, forced=False):
    """Compile a function to machine code; with `forced`, side exits can be forced at any instruction."""
    scripted = fresh(function)
    assert background_compilation.compile_now(scripted.compiled_code, forced) == ""
    return scripted


def outcome(function, *arguments):
    """Return the result or the class and message of the error, and the arguments after the call."""
    try:
        return "result", describe(function(*arguments)), describe(arguments)
    except Exception as error:
        return type(error), str(error).replace("\r", ""), describe(arguments)


def describe(x):
    """Return a value with exact bits, and the version counter of a tensor."""
    if isinstance(x, ts.Tensor):
        return f"{x.dtype} {tuple(x.shape)} {x.detach().contiguous().numpy().tobytes().hex()} {x._version}"
    if isinstance(x, list | tuple) and any(isinstance(item, ts.Tensor) for item in x):
        return str([describe(item) for item in x])
    return repr(x)


def outcome_of_copies(function, arguments):
    """Return the outcome of a call on copies of the arguments."""
    return outcome(function, *copy.deepcopy(arguments))


def outcomes_when_left(scripted, arguments, max_exits=200):
    """Yield the outcomes with a side exit forced at one instruction: each of the first `max_exits`, and samples of
    the rest."""
    many = 1 << 40
    force_exit(many)
    try:
        yield outcome_of_copies(scripted, arguments)
        ran = many - force_exit(-1)
        for instructions in sorted({*range(min(ran, max_exits)), *range(0, ran, max(ran // max_exits, 1))}):
            force_exit(instructions)
            yield outcome_of_copies(scripted, arguments)
            assert force_exit(-1) < 0
    finally:
        force_exit(-1)
