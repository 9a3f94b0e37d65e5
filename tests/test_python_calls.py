"""Calls of Python functions in scripts, compile directives (`ts.frontend.compile_directives`) and overloads."""

from typing import List

import pytest

import ts
from ts.frontend.sugared_values.python_functions import python_schema
from ts.frontend import compile_directives


@ts.jit.ignore
def shout(text: str) -> str:
    return text.upper()


@ts.jit.ignore
def wrong(n: int) -> int:
    return "text"


@ts.jit.ignore
def fails(n: int) -> int:
    raise KeyError("missing")


@ts.jit.ignore
def interrupts(n: int) -> int:
    raise KeyboardInterrupt


@ts.jit.ignore
def change(xs: List[int]):
    xs.append(1)


@ts.jit.unused
def gone(n: int) -> int:
    return n


def test_graph_text():
    """A call of a Python function is printed as in PyTorch, and the text can be parsed."""

    def f(text: str):
        return shout(text)

    graph = ts.jit.script(f).graph
    line = "%2 : str = ^shout[]()(%text.1)"
    assert line in str(graph)
    assert line in str(ts.ir.parse_ir(str(graph)))
    assert "return ^shout()(text)" in ts.jit.script(f).code


def test_result_of_the_invalid_type():
    """A Python result of another type than annotated raises an error with the location of the call."""

    def f(n: int):
        return wrong(n)

    with pytest.raises(RuntimeError, match=r"expected value of type int for return value but .* type str") as failure:
        ts.jit.script(f)(1)
    assert "~~~~~ <--- HERE" in str(failure.value)


def test_exception_of_python():
    """The error contains class, message and Python stack of the exception, which is its cause."""

    def f(n: int):
        return fails(n)

    with pytest.raises(RuntimeError, match=r"KeyError: 'missing'\n\nAt:\n .*: fails\n") as failure:
        ts.jit.script(f)(1)
    cause = failure.value.__cause__
    while isinstance(cause, RuntimeError):
        cause = cause.__cause__
    assert isinstance(cause, KeyError)


def test_interrupt_passes():
    """KeyboardInterrupt propagates unchanged through a script."""

    def f(n: int):
        return interrupts(n)

    with pytest.raises(KeyboardInterrupt):
        ts.jit.script(f)(1)


def test_limit_inside_of_a_call_back():
    """A limit error in a scripted function that a Python function calls is not converted."""

    @ts.jit.script
    def spin(n: int) -> int:
        while n > 0:
            n += 1
        return n

    @ts.jit.ignore
    def inner(n: int) -> int:
        return spin(n)

    def f(n: int):
        return inner(n)

    scripted = ts.jit.script(f)
    with ts.limits(fuel=100_000), pytest.raises(ts.errors.FuelExceeded):
        scripted(1)


def test_unread_result_is_not_checked():
    """A Python function without a return annotation may be called for its side effects; container arguments
    are copies."""

    def f(xs: List[int]):
        change(xs)
        return xs

    assert ts.jit.script(f)([5]) == [5]


def test_unused_raises():
    """A call of an unused function raises an error with PyTorch's message and the location of the call."""

    def f(n: int):
        return gone(n)

    with pytest.raises(ts.jit.Error, match="This Python function is annotated to be ignored and cannot be run"):
        ts.jit.script(f)(1)


def test_marks():
    """Compile directives set the modifier of a function, and `ignore` rejects invalid arguments."""
    assert compile_directives.modifier_of(shout) == "ignore"
    with pytest.warns(FutureWarning, match="has been deprecated"):
        dropped = ts.jit.ignore(drop=True)(lambda x: x)
    assert compile_directives.modifier_of(dropped) == "unused"
    with pytest.raises(RuntimeError, match="must be a bool or a function"):
        ts.jit.ignore(drop=3)
    read_only = ts.jit.unused(property(lambda self: 1))
    assert compile_directives.modifier_of(read_only.fget) == "unused"


def test_schemas_of_python_functions():
    """Parameters without annotations are tensors; otherwise, assigned names determine the results."""

    def parts(x, n: int, flag=True): ...

    assert str(python_schema(parts, 2, 1)).endswith("parts(Tensor x, int n, Tensor flag) -> Tensor 0")
    assert str(python_schema(lambda x, y: x, 2, 3)).endswith("(Tensor x, Tensor y) -> ((Tensor, Tensor, Tensor) 0)")


def test_overload_errors():
    """Overload declarations with a body, without implementation, with other names, or called with other types
    raise errors."""
    with pytest.raises(RuntimeError, match=r"Only `pass` statement or `...` can be the body of overload"):

        @ts.jit.overload
        def bad(x: int) -> int:
            return x

    @ts.jit.overload
    def only(x: int) -> int: ...

    def call_only():
        return only(1)

    with pytest.raises(RuntimeError, match=r'Implementation for the function ".*only" is missing'):
        ts.jit.script(call_only)

    @ts.jit.overload
    def named(x: int) -> int: ...

    def named(y):
        return y

    def call_named():
        return named(1)

    with pytest.raises(ts.jit.FrontendError, match=r"same names. Found x and y on argument 0"):
        ts.jit.script(call_named)
    with pytest.raises(RuntimeError, match="cannot be directly compiled because it is overloaded"):
        ts.jit.script(named)


def test_overloads_are_compiled_once():
    """Overloads are compiled once."""

    @ts.jit.overload
    def same(x: int) -> int: ...

    @ts.jit.overload
    def same(x: str) -> str: ...

    def same(x):
        return x

    first = ts.jit.get_overloads(same)
    assert [str(f.schema) for f in first] == ["same(int x) -> int", "same(str x) -> str"]
    assert all(a is b for a, b in zip(first, ts.jit.get_overloads(same)))


def test_boolean_dispatch_needs_a_constant():
    """`boolean_dispatch` requires a constant flag."""
    find = ts.jit.boolean_dispatch("flag", 1, False, lambda x, flag=False: x, lambda x, flag=False: x)

    def f(x: int, flag: bool):
        return find(x, flag)

    with pytest.raises(ts.jit.FrontendError, match="boolean dispatch was neither true nor false"):
        ts.jit.script(f)


def test_script_if_tracing_runs_as_python():
    """Outside of a trace, a `script_if_tracing` function runs as Python."""

    @ts.jit.script_if_tracing
    def f(n: int):
        return {n}

    assert f(3) == {3}


def test_errors_of_a_unit_are_reported_together():
    """A unit reports the errors of all its functions together and defines none of the functions."""
    text = """
    def good(x: int) -> int:
        return x

    def one(x: int) -> int:
        return missing(x)

    def two(x: int) -> str:
        return x
    """
    unit = ts.jit.CompilationUnit()
    with pytest.raises(ts.jit.FrontendError) as failure:
        unit.define(text)
    message = str(failure.value)
    assert message.startswith("undefined value missing")
    assert "1 more error:\nReturn value was annotated as having type str" in message
    assert unit.get_functions() == []


def test_switching_off():
    """`ts.jit.disable` makes `script` return functions unchanged."""

    def f(x: int):
        return {x}

    ts.jit.disable()
    try:
        assert ts.jit.script(f) is f
    finally:
        ts.jit.enable()


def test_hidden_source_ranges():
    """`hide_source_ranges` prints graphs without source locations."""

    @ts.jit.script
    def f(x: int):
        return x + 1

    assert "# " in str(f.graph)
    with ts.jit.hide_source_ranges():
        assert "# " not in str(f.graph)


def test_classes_of_python_itself():
    """Scripting a builtin class raises an error."""
    with pytest.raises(ts.jit.FrontendError, match="TorchScript classes must be new-style classes"):
        ts.jit.script(int)


def traceback_functions(error):
    """Return the functions of a traceback, as (top-level module, name)."""
    results = []
    frame = error.__traceback__
    while frame is not None:
        results.append((frame.tb_frame.f_globals["__name__"].partition(".")[0], frame.tb_frame.f_code.co_name))
        frame = frame.tb_next
    return results


def test_traceback():
    """A traceback contains the user's frames and the call into ts; errors of Python functions keep their
    frames."""

    def f(n: int) -> int:
        return fails(n)

    def divided(n: int) -> int:
        return n // 0

    with pytest.raises(RuntimeError) as failure:
        ts.jit.script(f)(1)
    cause = failure.value.__cause__
    assert isinstance(cause, KeyError)
    assert traceback_functions(cause) == [("tests", "fails")]
    with pytest.raises(RuntimeError) as failure:
        ts.jit.script(divided)(1)
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__
    functions = traceback_functions(failure.value)
    assert functions[0] == ("tests", "test_traceback")
    assert len(functions) <= 3


def test_traceback_of_ts(monkeypatch):
    """TS_SHOW_INTERNAL=1 shows internal frames."""
    monkeypatch.setenv("TS_SHOW_INTERNAL", "1")

    def divided(n: int) -> int:
        return n // 0

    with pytest.raises(RuntimeError) as failure:
        ts.jit.script(divided)(1)
    assert str(failure.value.__cause__) == "division by 0"
    assert len(traceback_functions(failure.value)) > 4


def test_stack_of_python():
    """The Python stack of a failing call omits the frames of ts between the user's frames."""

    class Failing(ts.nn.Module):
        def forward(self, n: int):
            return fails(n)

    with pytest.raises(RuntimeError) as failure:
        ts.jit.script(Failing())(1)
    frames = str(failure.value).partition("\nAt:\n")[2].splitlines()
    assert frames[0].endswith(": fails")
    assert frames[1].endswith(": test_stack_of_python")
