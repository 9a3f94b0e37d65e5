"""Hints of errors: the last line says what to write, and what it says holds."""

import random
from typing import Dict, Final, List

import pytest

import ts

NUMBERS = [1, 2]


def hint_of(function):
    """The hint of what does not compile."""
    with pytest.raises(RuntimeError) as caught:
        ts.jit.script(function)
    lines = str(caught.value).rstrip().split("\n")
    return lines[-1].removeprefix("Hint: ") if lines[-1].startswith("Hint: ") else ""


def test_an_attribute_of_the_class():
    """It is no misspelled one; what the hint says works."""

    class Net(ts.nn.Module):
        scale = 2.0

        def forward(self, x):
            return x * self.scale

    assert hint_of(Net()).startswith("'scale' is an attribute of the class: assign it in `__init__`")

    class Constant(ts.nn.Module):
        scale: Final[float] = 2.0

        def forward(self, x):
            return x * self.scale

    assert ts.jit.script(Constant())(ts.ones(1)).item() == 2


def test_a_parameter_without_an_annotation():
    """It is a Tensor: conversions are not what is missing."""

    def counted(n):
        total = 0
        for i in range(n):
            total += i
        return total

    def repeated(s: str, n):
        return s * n

    for function in (counted, repeated):
        assert hint_of(function) == "a parameter without an annotation is a Tensor; annotate it if it is not: `x: int`"


def test_texts():
    def repeated(s: str, n: int):
        return s * n

    assert hint_of(repeated) == "a text is not repeated by `*`: `''.join([s for _ in range(n)])`"

    @ts.jit.script
    def joined(s: str, n: int) -> str:
        return "".join([s for _ in range(n)])

    assert joined("ab", 3) == "ababab"

    def misspelled(s: str):
        return s.capitalise()

    assert hint_of(misspelled) == "did you mean 'capitalize'?"


def test_comprehensions_and_keys():
    def chosen(xs: List[int]) -> Dict[int, int]:
        return {x: x for x in xs if x > 1}

    def in_order(xs: List[int]):
        return sorted(xs, key=lambda x: -x)

    assert hint_of(chosen) == "assign to a dict in a `for` loop"
    assert hint_of(in_order) == "for `sorted(xs, key=...)` sort tuples that begin with the key"

    @ts.jit.script
    def of_tuples(xs: List[int]):
        return sorted([(-x, x) for x in xs])

    assert of_tuples([1, 3]) == [(-3, 3), (-1, 1)]


def test_what_is_pythons_own():
    def drawn(n: int) -> int:
        return random.randint(0, n)

    assert hint_of(drawn).startswith("`random.randint` is Python's own")


def test_keywords_that_there_are_not():
    """The hint names them where the message, which is PyTorch's, says only what is missing."""

    def helper(a: int, base: int) -> int:
        return a + base

    def of_an_operator(x):
        return ts.softmax(x, dimm=0)

    def of_a_method(x):
        return x.softmax(axes=0)

    def of_a_function(a: int):
        return helper(a, bas=2)

    def that_the_message_names(x):
        return x.sum(keep=True)

    assert hint_of(of_an_operator) == "there is no argument 'dimm' here: did you mean 'dim'?"
    assert hint_of(of_a_method) == "there is no argument 'axes' here"
    assert hint_of(of_a_function) == "there is no argument 'bas' here: did you mean 'base'?"
    assert hint_of(that_the_message_names) == "did you mean 'keepdim'?"


def test_globals_and_types():
    def changes(n: int):
        NUMBERS.append(n)
        return n

    def asks(x):
        return 1 if type(x) == int else 2  # noqa: E721

    assert hint_of(changes) == "a global list cannot be changed in scripts: pass it as an argument"
    assert hint_of(asks) == "to ask for the type of x write `isinstance(x, int)`"


# A method that scripts do not have, what is written instead, and where the hint says so.
INSTEAD = [
    ("encode", "[ord(c) for c in list(s)]", [97, 98, 233]),
    ("removeprefix", "s[len(prefix):] if s.startswith(prefix) else s", "bé"),
    ("removesuffix", "s[:len(s) - len(suffix)] if s.endswith(suffix) else s", "ab"),
    ("contains", "part in s", True),
    ("substring", "s[begin:end]", "b"),
    ("reverse", "s[::-1]", "éba"),
    ("append", "s + other", "ab\u00e9."),
]


@pytest.mark.parametrize(("method", "instead", "result"), INSTEAD, ids=[row[0] for row in INSTEAD])
def test_methods_of_texts_that_scripts_have_not(method, instead, result):
    """What the hint says to write compiles, and gives that."""
    unit = ts.jit.CompilationUnit(
        f"def f(s: str, prefix: str, suffix: str, part: str, begin: int, end: int, other: str):\n    return {instead}\n"
    )
    assert unit.f("abé", "a", "é", "b", 1, 2, ".") == result
    with pytest.raises(RuntimeError) as caught:
        ts.jit.CompilationUnit(f"def f(s: str):\n    return s.{method}()\n")
    assert f"`{instead}`" in str(caught.value).rstrip().split("\n")[-1]


def test_every_method_of_pythons_texts_is_there_or_has_a_hint():
    for method in (name for name in dir(str) if not name.startswith("_")):
        with pytest.raises(RuntimeError) as caught:
            ts.jit.CompilationUnit(f"def f(s: str):\n    return s.{method}(nothing=s)\n")
        assert "no attribute" not in str(caught.value) or "\nHint: " in str(caught.value), method


def test_operands_that_do_not_fit():
    """The overloads that come nearest, and a hint, on one screen."""

    def joined(s: str, n: int):
        return s + n

    with pytest.raises(ts.errors.SchemaMatchError) as caught:
        ts.jit.script(joined)
    text = str(caught.value)
    assert text.startswith("Arguments for call are not valid.\nThe following variants are available:\n")
    assert "aten::add.str(str a, str b) -> str:" in text and "aten::add.Tensor" not in text
    assert "and 18 others, which fit no better." in text and len(text.splitlines()) < 20
    assert hint_of(joined) == "found str and int; `str(x)` makes a text of a number"


def test_a_dict_without_types():
    def count(words: dict) -> int:
        return len(words)

    assert hint_of(count) == "write `Dict[str, int]`"
