"""What tests of machine code share: functions that have it at once, their outcomes, and all ways to be left."""

import copy

import pytest

import ts
from ts._core.vm.native import force_exit
from ts.bytecode.native import background_compilation

needs_llvm = pytest.mark.skipif(not background_compilation.is_available(), reason="llvmlite is not installed")


def fresh(function):
    """The function scripted once more: nothing of an earlier Code is left."""
    copy = type(function)(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__annotations__ = function.__annotations__
    return ts.jit.script(copy)


def native(function, forced=False):
    """The same with machine code; one that is `forced` can be left anywhere."""
    scripted = fresh(function)
    assert background_compilation.compile_now(scripted.compiled_code, forced) == ""
    return scripted


def outcome(function, *arguments):
    """The result, or the class and the text of the error; and what is in the arguments then."""
    try:
        return "result", describe(function(*arguments)), describe(arguments)
    except Exception as error:
        return type(error), str(error).replace("\r", ""), describe(arguments)


def describe(x):
    """A value to the bit, and how often a tensor was written."""
    if isinstance(x, ts.Tensor):
        return f"{x.dtype} {tuple(x.shape)} {x.detach().contiguous().numpy().tobytes().hex()} {x._version}"
    if isinstance(x, list | tuple) and any(isinstance(item, ts.Tensor) for item in x):
        return str([describe(item) for item in x])
    return repr(x)


def outcome_of_copies(function, arguments):
    """The same, and the arguments stay what they are."""
    return outcome(function, *copy.deepcopy(arguments))


def outcomes_when_left(scripted, arguments, most=200):
    """What comes out where the machine code is left at one instruction: the first ones, and `most` of the others."""
    many = 1 << 40
    force_exit(many)
    try:
        yield outcome_of_copies(scripted, arguments)
        ran = many - force_exit(-1)
        for instructions in sorted({*range(min(ran, most)), *range(0, ran, max(ran // most, 1))}):
            force_exit(instructions)
            yield outcome_of_copies(scripted, arguments)
            assert force_exit(-1) < 0
    finally:
        force_exit(-1)
