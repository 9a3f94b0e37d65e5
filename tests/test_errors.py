"""Errors of programs: compile errors have a location and a hint, run-time errors have the script stack and
PyTorch's exception class."""

import textwrap
from typing import Dict, List, Optional

import pytest

import ts
from ts.frontend import parse
from ts.jit import FrontendError, NotSupportedError


def parse_error(body, signature="x: int"):
    """Return the error message for a function with the given body."""
    text = f"def f({signature}):\n{textwrap.indent(textwrap.dedent(body).strip(chr(10)), '    ')}\n"
    with pytest.raises(FrontendError) as failure:
        parse.module_defs(text)
    return str(failure.value)


@pytest.mark.parametrize(
    "body, named",
    [
        ("try:\n    pass\nfinally:\n    pass", "try blocks aren't supported"),
        ("async with x:\n    pass", "async with statements aren't supported"),
        ("global y", "global variables aren't supported"),
        ("import os", "import statements aren't supported"),
        ("from os import path", "import statements aren't supported"),
        ("class A: pass", "class definitions aren't supported"),
        ("f = lambda: x", "Lambda aren't supported"),
        ("yield x", "Yield aren't supported"),
        ("yield from x", "YieldFrom aren't supported"),
        ("return {x}", "Set aren't supported"),
        ("return {i for i in x}", "SetComp aren't supported"),
        ("return (y := x)", "NamedExpr aren't supported"),
        ("match x:\n    case 1: pass", "Match aren't supported"),
        ("y: int", "annotated assignments without assigned value aren't supported"),
        ("x @= x", "unsupported kind of augmented assignment: MatMult"),
        ("raise", "raise without an exception isn't supported"),
        ("for i in x:\n    pass\nelse:\n    pass", "else branches of for loops aren't supported"),
        ("while x:\n    pass\nelse:\n    pass", "else branches of while loops aren't supported"),
        ("return g(**x)", "keyword-arg expansion is not supported"),
        ("return {**x}", "Dict expansion (e.g. `{**dict}`) is not supported"),
        ("return [i for i in x for j in x]", "Only a single generator is currently supported"),
        ("return [i for i in x if i]", "Comprehension ifs are not supported yet"),
        ("return b'abc'", "Unknown Constant expression type"),
        ("return f'{x!r}'", "Don't support conversion in JoinedStr"),
        ("return f'{x:3}'", "Don't support formatting in JoinedStr"),
        ("return +x", "unsupported unary operator: UAdd"),
        ("__jit_x = 1", "names of variables used in JIT-ed functions can't start with __jit"),
        ("return x +", "expected ident but found 'newline' here; invalid syntax"),
    ],
)
def test_rejected_construct(body, named):
    message = parse_error(body)
    assert message.startswith(named)
    assert "~ <--- HERE" in message


@pytest.mark.parametrize(
    "signature, named",
    [
        ("*xs", "Compiled functions can't take variable number of arguments"),
        ("**xs", "Compiled functions can't take variable number of arguments"),
        ("*, x=1", "or use keyword-only arguments with defaults"),
    ],
)
def test_rejected_signature(signature, named):
    assert named in parse_error("return 1", signature)


def test_underlined():
    """The error marks the first token of the unsupported construct."""
    assert parse_error("y = 1\nz = lambda: y\nreturn z").splitlines()[-4:] == [
        "    y = 1",
        "    z = lambda: y",
        "        ~ <--- HERE",
        "    return z",
    ]


def test_live_function_names_its_file():
    def f(x: int):
        try:
            return x
        finally:
            pass

    with pytest.raises(NotSupportedError) as failure:
        ts.jit.script(f)
    line = f.__code__.co_firstlineno + 1
    assert f'File "{__file__}", line {line}' in str(failure.value)


def test_undefined_value_in_callee():
    """An error in a callee contains the caller."""

    def callee(x: int):
        return x + nowhere

    def caller(x: int):
        return callee(x)

    with pytest.raises(FrontendError) as failure:
        ts.jit.script(caller)
    message = str(failure.value)
    assert "undefined value nowhere" in message
    assert "'callee' is being compiled since it was called from 'caller'" in message


@ts.jit.script
def divide(x: int, y: int) -> int:
    return x // y


@ts.jit.script
def modulo(x: int, y: int) -> int:
    return x % y


@ts.jit.script
def quotient(x: float, y: float) -> float:
    return x / y


@ts.jit.script
def item(xs: List[int], i: int) -> int:
    return xs[i]


@ts.jit.script
def entry(d: Dict[str, int], k: str) -> int:
    return d[k]


@ts.jit.script
def character(s: str, i: int) -> str:
    return s[i]


@ts.jit.script
def number(s: str) -> int:
    return int(s)


@ts.jit.script
def last(xs: List[int]) -> int:
    return xs.pop()


@ts.jit.script
def fail(kind: int) -> int:
    if kind == 0:
        raise ValueError("wrong kind")
    assert kind != 1, "not one"
    return kind


@ts.jit.script
def required(x: Optional[int]) -> int:
    assert x is not None
    return x


@pytest.mark.parametrize(
    "function, arguments, kind, message",
    [
        (divide, (1, 0), RuntimeError, "division by"),
        (modulo, (1, 0), RuntimeError, "by"),  # PyTorch's process is killed by a signal
        (item, ([1, 2], 2), RuntimeError, "list index out of range"),
        (item, ([1, 2], -3), RuntimeError, "list index out of range"),
        (entry, ({"a": 1}, "b"), RuntimeError, "KeyError: b"),
        (character, ("abc", 3), RuntimeError, "string index out of range"),
        (number, ("abc",), RuntimeError, "abc"),
        (last, ([],), RuntimeError, "pop from empty list"),
        (fail, (0,), ts.jit.Error, "wrong kind"),
        (fail, (1,), ts.jit.Error, "not one"),
        (required, (None,), ts.jit.Error, "AssertionError"),
    ],
)
def test_runtime_error(function, arguments, kind, message):
    """Run-time errors have PyTorch's class, its message and the location in the script."""
    with pytest.raises(kind) as failure:
        function(*arguments)
    text = str(failure.value)
    assert message in text
    assert "Traceback of TorchScript (most recent call last)" in text
    assert "<--- HERE" in text


def test_float_division_by_zero_is_infinite():
    """Float division by zero returns infinity, as in PyTorch."""
    assert quotient(1.0, 0.0) == float("inf")


@pytest.mark.parametrize(
    "function, arguments, message",
    [
        (
            divide,
            (1,),
            "divide() is missing value for argument 'y'. Declaration: divide(int x, int y) -> int",
        ),
        (divide, (1, 2, 3), "expected at most 2 argument(s) but received 3 argument(s)"),
        (divide, (1, "a"), "Expected a value of type 'int' for argument 'y' but instead found type 'str'"),
        (divide, (1, 2.5), "Expected a value of type 'int' for argument 'y' but instead found type 'float'"),
        (
            item,
            ([1, "a"], 0),
            "Expected a value of type 'List[int]' for argument 'xs' but instead found type 'list'",
        ),
    ],
)
def test_invalid_arguments_from_python(function, arguments, message):
    """Arguments from Python are checked against the schema."""
    with pytest.raises(RuntimeError) as failure:
        function(*arguments)
    assert message in str(failure.value)


def test_unknown_keyword_from_python():
    with pytest.raises(RuntimeError, match=r"z|at most"):
        divide(1, 2, z=3)


def test_script_stack():
    """The stack in the error lists each script function from the call to the failure, outermost first."""

    def inner(xs: List[int]) -> int:
        return xs[10]

    def outer(xs: List[int]) -> int:
        return inner(xs) + 1

    scripted = ts.jit.script(outer)
    with pytest.raises(RuntimeError) as failure:
        scripted([1])
    text = str(failure.value)
    assert text.index("return inner(xs) + 1") < text.index("return xs[10]")


def test_hints():
    """The last line of an error contains a hint: a similar name, or a fix for an Optional."""
    unit = ts.jit.CompilationUnit()
    with pytest.raises(ts.jit.FrontendError, match=r"undefined value lenght:(?s:.*)\nHint: did you mean 'length'\?$"):
        unit.define("def f(length: int) -> int:\n    return lenght\n")
    with pytest.raises(ts.jit.FrontendError, match="Hint: the value may be None; test it"):
        unit.define("def f(x: Optional[int]) -> int:\n    return x + 1\n")
    with pytest.raises(ts.jit.FrontendError, match=r"Hint: annotate the first assignment: `y: Optional\[int\] = ...`"):
        unit.define("def f(x: int):\n    y = 1\n    if x > 1:\n        y = None\n    return y\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = 1 pass", "expected newline but found 'pass' here"),
        ("x = (1 pass)", "expected ) but found 'pass' here"),
        ("if x pass", "expected : but found 'pass' here"),
        ("x = = 3", "expected ident but found '=' here"),
        ("return x..y", "expected ident but found '.' here"),
        ("return x ? 3", "expected newline but found '?' here"),
        ("return x $ 3", "expected a valid token but found"),
        ("3 = x", "unexpected expression on left-hand side of assignment"),
        ("f(x) += 1", "unexpected expression on left-hand side of augmented assignment"),
        ("x, y += 1", "augmented assignment can only have one LHS expression"),
    ],
)
def test_messages_of_the_parser(line, message):
    """Syntax errors in source strings have PyTorch's messages: the expected and the actual token."""
    with pytest.raises(RuntimeError) as failure:
        ts.jit.CompilationUnit(f"def f(x):\n    {line}\n")
    assert str(failure.value).startswith(message)


def test_functions_of_one_name():
    """Functions of a unit, and methods of a module, cannot be redefined."""
    unit = ts.jit.CompilationUnit("def f(x):\n    return x\n")
    with pytest.raises(RuntimeError, match=r"method 'f' already defined\."):
        unit.define("def f(x):\n    return x + 1\n")
    with pytest.raises(RuntimeError, match=r"method 'g' already defined\."):
        unit.define("def g(x):\n    return x\ndef g(x):\n    return x\n")
    module = ts.jit.script(ts.nn.Identity())
    with pytest.raises(RuntimeError, match="Can't redefine method: forward on class: __torch__"):
        module.define("def forward(self, x):\n    return x\n")
