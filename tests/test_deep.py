"""Deeply nested programs: they compile, or say where they are nested too deeply."""

import pytest

import ts
from ts.errors import NestingError


def compiled(text):
    return ts.jit.CompilationUnit(text).f


def test_operators():
    """A thousand operators in one expression, and a thousand signs."""
    assert compiled("def f(x: int) -> int:\n    return " + "x + " * 1500 + "x\n")(2) == 3002
    assert compiled("def f(x: int) -> int:\n    return " + "-" * 1501 + "x\n")(2) == -2


def test_branches():
    """Three hundred `elif`, with early returns: each is a level of the graph."""
    branches = "".join(f"    elif x == {i}:\n        return {i * i}\n" for i in range(1, 300))
    f = compiled(f"def f(x: int) -> int:\n    if x == 0:\n        return -1\n{branches}    return -2\n")
    assert [f(x) for x in (0, 7, 299, 300)] == [-1, 49, 299 * 299, -2]


def test_source():
    """What is nested deeply shows its source."""
    f = compiled("def f(x: int) -> int:\n    return " + "x + " * 1500 + "x\n")
    assert f.code.count("torch.add") == 1500


def test_too_deep():
    """What Python's own parser cannot take is refused at its line."""
    with pytest.raises(NestingError, match="nested too deeply") as error:
        compiled("def f(x: int) -> int:\n    return " + "-" * 20000 + "x\n")
    assert 'File "<string>", line 2' in str(error.value)


def test_limit_is_restored():
    """The second try on a deep stack leaves Python's recursion limit, and this thread, as they were."""
    import sys

    limit = sys.getrecursionlimit()
    compiled("def f(x: int) -> int:\n    return " + "-" * 1501 + "x\n")
    assert sys.getrecursionlimit() == limit
    with pytest.raises(RuntimeError, match="undefined value y"):
        compiled("def f(x: int) -> int:\n    return " + "-" * 1501 + "y\n")
    assert sys.getrecursionlimit() == limit
