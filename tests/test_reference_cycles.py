"""Scripted objects are released with the Python objects that they were created from."""

import gc
import time
import typing
import weakref
from collections import namedtuple
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import pytest

import ts


def function():
    def f(xs: List[int]) -> int:
        total = 0
        for x in xs:
            total += x
        return total

    ts.jit.script(f)([1, 2])
    return f


def recursion():
    def f(n: int) -> int:
        if n < 2:
            return 1
        return n * f(n - 1)

    ts.jit.script(f)(5)
    return f


def unread_failing_code():
    """Script a function with failing dead code, which keeps its graph from before the passes."""

    def f(n: int) -> int:
        q = 7 // n
        return n

    ts.jit.script(f)(5)
    return f


def script_class():
    class Counter:
        def __init__(self, start: int):
            self.count = start

        def up(self) -> int:
            q = 7 // self.count
            self.count += 1
            return self.count

        def both(self, others: List["Counter"]) -> int:
            return self.count + others[0].count

    def f(n: int) -> int:
        c = Counter(n)
        table: Dict[str, Optional[Counter]] = {"a": c, "b": None}
        pair: Tuple[Counter, int] = (c, 1)
        result = table["a"]
        return c.up() + c.both([c]) + len(table) + pair[1] + (1 if result is c else 0)

    def g(c: Counter, d: List[Counter]) -> Counter:
        return d[0]

    ts.jit.script(f)(5)
    ts.jit.script(g)(Counter(1), [Counter(2)])
    return Counter


def linked_list():
    class Node:
        def __init__(self, value: int):
            self.value = value
            self.next: Optional[Node] = None

    def f(n: int) -> int:
        first = Node(n)
        second = Node(n)
        first.next = second
        second.next = first
        return first.value

    ts.jit.script(f)(5)
    return Node


def enumeration():
    class Color(Enum):
        RED = 1
        GREEN = 2

    def f(c: Color) -> List[Color]:
        return [c, Color.GREEN]

    ts.jit.script(f)(Color.RED)
    return Color


def named_tuple():
    class Pair(NamedTuple):
        a: int
        b: List[int]

    def f(p: Pair) -> Optional[Pair]:
        return Pair(p.a + 1, p.b)

    ts.jit.script(f)(Pair(1, [2]))
    return Pair


def named_tuple_of_collections():
    Pair = namedtuple("Pair", "a b")

    def f(x) -> Pair:
        return Pair(x, x)

    ts.jit.script(f)(ts.ones(1))
    return Pair


def interface():
    @ts.jit.interface
    class Shape:
        def area(self) -> int:
            pass

    class Square:
        def __init__(self, a: int):
            self.a = a

        def area(self) -> int:
            return self.a * self.a

    def f(n: int) -> int:
        shape: Shape = Square(n)
        return shape.area()

    ts.jit.script(f)(5)
    return Shape


def module():
    class Layer(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = ts.nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(x)

    ts.jit.script(Layer())(ts.ones(1, 2))
    return Layer


def python_method():
    class Layer(ts.nn.Module):
        @ts.jit.ignore
        def python(self, x: int) -> int:
            return x

        def forward(self, x: int) -> int:
            return self.python(x)

    ts.jit.script(Layer())(2)
    return Layer


def fork():
    def body(x: int) -> int:
        return x + 1

    def f(x: int) -> int:
        task = ts.jit.fork(body, x)
        return ts.jit.wait(task)

    ts.jit.script(f)(2)
    time.sleep(0.05)  # worker threads remove tasks that the waiting program ran itself
    return body


def anything():
    class Box:
        def __init__(self, x: int):
            self.x = x

    def f(x: Any) -> int:
        if isinstance(x, Box):
            return x.x
        return 0

    ts.jit.script(f)(Box(3))
    return Box


def failed_function():
    """Fail a compilation, whose helper functions must be released too."""

    class Counter:
        def __init__(self, start: int):
            self.count = start

    def helper(n: int) -> int:
        return Counter(n).count

    def f(n: int) -> int:
        return helper(n) + unknown

    with pytest.raises(RuntimeError, match="undefined value unknown"):
        ts.jit.script(f)
    return Counter


def failed_class():
    class Broken:
        def __init__(self, start: int):
            self.count = start + unknown

    class Holder:
        def __init__(self, start: int):
            self.held = Broken(start)

    def f(n: int) -> int:
        return Holder(n).held.count

    with pytest.raises(RuntimeError, match="undefined value unknown"):
        ts.jit.script(f)
    return Broken


def failed_module():
    class Layer(ts.nn.Module):
        def forward(self, x):
            return x + unknown

    with pytest.raises(RuntimeError, match="undefined value unknown"):
        ts.jit.script(Layer())
    return Layer


MAKERS = [
    function, recursion, unread_failing_code, script_class, linked_list, enumeration, named_tuple,
    named_tuple_of_collections, interface, module, python_method, fork, anything, failed_function, failed_class,
    failed_module,
]  # fmt: skip


def collect():
    """Collect garbage after clearing the caches of `typing`."""
    for clear in typing._cleanups:
        clear()
    gc.collect()
    gc.collect()  # collects objects that only the code collected above referenced


def growth(make):
    """Return the number of additional objects after three calls."""
    collect()
    before = len(gc.get_objects())
    for _ in range(3):
        make()
    collect()
    return len(gc.get_objects()) - before


@pytest.mark.usefixtures("freeze_objects")
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_scripted_objects_are_released(make):
    """A scripted object is released with all its compiled data when its last reference is dropped."""
    references = [weakref.ref(make()) for _ in range(3)]
    collect()
    assert [one() for one in references] == [None] * 3
    make()
    # A leak grows every time; starting and ending threads create objects only occasionally.
    assert any(growth(make) < 30 for _ in range(3))


def test_script_is_cached_with_its_function():
    """A scripted function is cached as long as its Python function exists."""

    def f(n: int) -> int:
        return n + 1

    first = ts.jit.script(f)
    number = id(first)
    del first
    gc.collect()
    assert id(ts.jit.script(f)) == number


def test_copies_of_attributes():
    """The script cache of a function is not used if `functools.wraps` copied it from another function."""

    def f(n: int) -> int:
        return n + 1

    ts.jit.script(f)

    def g(n: int) -> int:
        return n + 2

    g.__dict__.update(f.__dict__)
    assert ts.jit.script(g)(1) == 3


def test_class_after_failure():
    """A class with a failed compilation is compiled again after the missing name exists."""

    class Late:
        def __init__(self, start: int):
            self.count = start + later(start)

    def f(n: int) -> int:
        return Late(n).count

    with pytest.raises(RuntimeError):
        ts.jit.script(f)

    def later(n: int) -> int:
        return 1

    assert ts.jit.script(f)(2) == 3
