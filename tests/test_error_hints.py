"""Hints in errors: the last line contains a working replacement."""

import random
from enum import Enum
from typing import Dict, Final, List, NamedTuple, Optional, Union

import pytest

import ts

NUMBERS = [1, 2]


def hint_of(function):
    """Return the hint of a compile error."""
    with pytest.raises(RuntimeError) as caught:
        ts.jit.script(function)
    lines = str(caught.value).rstrip().split("\n")
    return lines[-1].removeprefix("Hint: ") if lines[-1].startswith("Hint: ") else ""


def test_an_attribute_of_the_class():
    """A class attribute gets a separate hint with a working fix, not a spelling suggestion."""

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
    """The hint for a parameter without annotation names the default type Tensor."""

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

    assert hint_of(repeated) == "`*` does not repeat strings: use `''.join([s for _ in range(n)])`"

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


def test_hints_for_python_functions():
    def drawn(n: int) -> int:
        return random.randint(0, n)

    assert hint_of(drawn).startswith("`random.randint` is a Python function")


def test_unknown_keywords():
    """The hint names unknown keywords if PyTorch's message lists only missing arguments."""

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

    assert hint_of(of_an_operator) == "unknown argument 'dimm': did you mean 'dim'?"
    assert hint_of(of_a_method) == "unknown argument 'axes'"
    assert hint_of(of_a_function) == "unknown argument 'bas': did you mean 'base'?"
    assert hint_of(that_the_message_names) == "did you mean 'keepdim'?"


def test_keywords_of_calls_from_python():
    """The error for invalid keywords, with PyTorch's text, names an unknown keyword only if no argument is
    missing."""

    @ts.jit.script
    def scaled(x: int, factor: int = 2):
        return x * factor

    @ts.jit.script
    def added(x: int, other: int):
        return x + other

    for call, hint in (
        (lambda: scaled(1, facter=3), "did you mean 'factor'?"),
        (lambda: added(1, othr=3), "unknown argument 'othr': did you mean 'other'?"),
        (lambda: added(1, qqqq=3), "unknown argument 'qqqq'"),
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert str(caught.value).split("\nHint: ")[1] == hint
    with pytest.raises(RuntimeError, match=r"\) -> int$"):
        scaled(1, qqqq=3)


class Size(NamedTuple):
    height: int
    width: int


class Colour(Enum):
    RED = 1
    GREEN = 2


@ts.jit.interface
class Layer(ts.nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        pass


def test_misspelled_attributes_of_classes():
    """The hint suggests a similar attribute of a class, named tuple, enum, interface or module."""

    @ts.jit.script
    class Account:
        def __init__(self, start: int):
            self.total = start

        def deposit(self, n: int) -> int:
            self.total += n
            return self.total

        @property
        def doubled(self) -> int:
            return 2 * self.total

        @staticmethod
        def opened() -> int:
            return 0

    class Doubled(ts.nn.Module):
        def forward(self, x: ts.Tensor) -> ts.Tensor:
            return x * 2

    class Net(ts.nn.Module):
        layer: Layer

        def __init__(self):
            super().__init__()
            self.linear = ts.nn.Linear(2, 2)
            self.steps = 0
            self.layer = ts.jit.script(Doubled())

    class MisspelledMethod(Net):
        def forward(self, x):
            return self.liner(x)

    class MisspelledAssignment(Net):
        def forward(self, x):
            self.stps = 1
            return x

    class MisspelledInInterface(Net):
        def forward(self, x):
            return self.layer.forwrd(x)

    def attribute(a: Account):
        return a.totl

    def method(a: Account):
        return a.depsoit(2)

    def of_a_property(a: Account):
        return a.doubld

    def assigned(a: Account):
        a.totl = 2
        return a

    def added(a: Account):
        a.totl += 2
        return a

    def static(a: Account):
        return a.openned()

    def of_the_class(n: int):
        return Account.openned()

    def like_nothing(a: Account):
        return a.qqqqqqqq

    def field(s: Size):
        return s.heigt

    def of_a_result(x):
        return x.max(0).valus

    def member(n: int):
        return Colour.GREN

    def of_a_member(c: Colour):
        return c.valu

    def of_a_tensor(x):
        return x.dtpe

    suggestions = {
        attribute: "total", method: "deposit", of_a_property: "doubled", assigned: "total", added: "total", static: "opened",
        of_the_class: "opened", field: "height", of_a_result: "values", member: "GREEN", of_a_member: "value", of_a_tensor: "dtype",
        MisspelledMethod(): "linear", MisspelledAssignment(): "steps", MisspelledInInterface(): "forward",
    }  # fmt: skip
    for program, name in suggestions.items():
        assert hint_of(program) == f"did you mean '{name}'?"
    assert hint_of(like_nothing) == ""


def test_results_of_two_types():
    """The hint for two result types names the first location and a fix that compiles."""

    def number_or_text(x: int):
        if x > 1:
            return x
        return "small"

    def tensor_or_number(x, n: int):
        for i in range(n):
            if i == 3:
                return x
        return n

    def maybe_then_text(x: int):
        if x > 2:
            return x
        if x > 1:
            return None
        return "small"

    first = number_or_text.__code__.co_firstlineno + 2
    assert hint_of(number_or_text) == (
        f"the int is from line {first}, `return x`; return one type everywhere, or annotate both: `-> Union[int, str]`"
    )
    assert hint_of(tensor_or_number).endswith("`-> Union[Tensor, int]`")
    third = maybe_then_text.__code__.co_firstlineno + 4
    assert hint_of(maybe_then_text).startswith(f"the Optional[int] is from line {third}, `return None`")

    @ts.jit.script
    def annotated(x: int) -> Union[int, str]:
        if x > 1:
            return x
        return "small"

    @ts.jit.script
    def annotated_maybe(x: int) -> Union[Optional[int], str]:
        if x > 1:
            return x
        return "small"

    assert annotated(2) == annotated_maybe(2) == 2 and annotated(1) == "small"


def test_globals_and_types():
    def changes(n: int):
        NUMBERS.append(n)
        return n

    def asks(x):
        return 1 if type(x) == int else 2  # noqa: E721

    assert hint_of(changes) == "a global list cannot be changed in scripts: pass it as an argument"
    assert hint_of(asks) == "to test the type of x, write `isinstance(x, int)`"


# Unsupported string methods with their replacement and the location of the hint.
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
def test_unsupported_string_methods(method, instead, result):
    """The hint for an unsupported string method contains a replacement that compiles and returns the expected
    result."""
    unit = ts.jit.CompilationUnit(
        f"def f(s: str, prefix: str, suffix: str, part: str, begin: int, end: int, other: str):\n    return {instead}\n"
    )
    assert unit.f("abé", "a", "é", "b", 1, 2, ".") == result
    with pytest.raises(RuntimeError) as caught:
        ts.jit.CompilationUnit(f"def f(s: str):\n    return s.{method}()\n")
    assert f"`{instead}`" in str(caught.value).rstrip().split("\n")[-1]


def test_every_string_method_exists_or_has_a_hint():
    for method in (name for name in dir(str) if not name.startswith("_")):
        with pytest.raises(RuntimeError) as caught:
            ts.jit.CompilationUnit(f"def f(s: str):\n    return s.{method}(nothing=s)\n")
        assert "no attribute" not in str(caught.value) or "\nHint: " in str(caught.value), method


def test_mismatched_operands():
    """The error lists the closest overloads and a hint."""

    def joined(s: str, n: int):
        return s + n

    with pytest.raises(ts.errors.SchemaMatchError) as caught:
        ts.jit.script(joined)
    text = str(caught.value)
    assert text.startswith("Arguments for call are not valid.\nThe following variants are available:\n")
    assert "aten::add.str(str a, str b) -> str:" in text and "aten::add.Tensor" not in text
    assert "and 18 other overloads, which match no better." in text and len(text.splitlines()) < 20
    assert hint_of(joined) == "found str and int; `str(x)` converts a number to a string"


def test_a_dict_without_types():
    def count(words: dict) -> int:
        return len(words)

    assert hint_of(count) == "write `Dict[str, int]`"
