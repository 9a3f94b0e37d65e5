"""Inner functions are checked but not compiled in source strings, and are rejected in Python functions."""

import pytest

import ts


def script(text):
    return ts.jit.CompilationUnit(text)


def test_unused():
    """A closure without calls does not change the function."""
    f = script(
        """
def f(x: int) -> int:
    if x > 0:
        a = 0
        def backward(grad_output):
            raise RuntimeError("Hi")
        a = a + 1
    else:
        return x
    return a + 1
"""
    ).f
    assert (f(1), f(-1)) == (2, -1)
    assert str(f.graph).count("prim::If") == 1


def test_sees_variables_and_its_own_parameters():
    f = script("def f(x: int):\n    y = x\n    def g(z: int):\n        w = z + y\n        return w\n    return y\n").f
    assert f(3) == 3


def test_parameters_do_not_leak():
    with pytest.raises(RuntimeError, match="undefined value z"):
        script("def f(x: int):\n    def g(z: int):\n        return z\n    return z\n")


def test_nested_and_with_returns_of_other_types():
    f = script("def f(x: int):\n    def g(y):\n        def h(z):\n            return [z]\n        return y\n    return x\n").f
    assert f(4) == 4


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return nope", "undefined value nope"),
        ("return lambda: 1", "Lambda aren't supported"),
        ("x.append(1)", "'int' object has no attribute or method 'append'"),
        ("break", "'break' outside loop"),
    ],
)
def test_body_is_checked(body, message):
    with pytest.raises(RuntimeError, match=message):
        script(f"def f(x: int):\n    for i in range(3):\n        def g(y):\n            {body}\n    return x\n")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("g(x)", "cannot call a closure"),
        ("g", "a closure cannot be used as a value"),
        ("torch.jit.fork(g, x)", "cannot call a closure"),
    ],
)
def test_uses_are_rejected(use, message):
    with pytest.raises(RuntimeError, match=message):
        script(f"def f(x: int):\n    def g(y: int):\n        return y\n    return {use}\n")


def test_outer_function_must_still_return():
    with pytest.raises(RuntimeError, match="does not return along all"):
        script("def f(x) -> Tensor:\n    y = x\n    def g(z):\n        raise RuntimeError('Hi')\n")


def test_live_functions():
    def f(x: int):
        def g(y):
            return y

        return x

    with pytest.raises(ts.jit.frontend.NotSupportedError, match="function definitions aren't supported"):
        ts.jit.script(f)
