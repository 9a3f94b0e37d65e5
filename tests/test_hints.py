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


def test_globals_and_types():
    def changes(n: int):
        NUMBERS.append(n)
        return n

    def asks(x):
        return 1 if type(x) == int else 2  # noqa: E721

    assert hint_of(changes) == "a global list cannot be changed in scripts: pass it as an argument"
    assert hint_of(asks) == "to ask for the type of x write `isinstance(x, int)`"
