"""Script classes: handles in Python and attribute types."""

from dataclasses import dataclass, field
from typing import Any, List, Optional

import pytest

import ts


class Point:
    def __init__(self, x: int, y: float = 0.5):
        self.x = x
        self.y = y

    def norm(self) -> float:
        return float(self.x * self.x) + self.y


class Holder:
    """Class whose second method uses unsupported Python."""

    def __init__(self, points: List[Point]):
        self.points = points

    def total(self) -> int:
        return sum([p.x for p in self.points])

    def unsupported(self):
        return (lambda: locals())()


class Context:
    """Context manager whose exit appends its digit to a global number."""

    def __init__(self, order: ts.Tensor, digit: int):
        self.order = order
        self.digit = digit

    def __enter__(self):
        pass

    def __exit__(self, type: Any, value: Any, tb: Any):
        self.order.mul_(10)
        self.order.add_(self.digit)


def double(p: Point) -> Point:
    p.x *= 2
    return p


def total(h: Holder) -> int:
    return h.total()


def uses_unsupported(h: Holder):
    return h.unsupported()


def test_instances_are_converted():
    """An instance argument is converted to a new script object, and a returned object to a new instance."""
    p = Point(3)
    q = ts.jit.script(double)(p)
    assert type(q) is Point and (q.x, q.y) == (6, 0.5)
    assert p.x == 3


def test_containers_of_instances():
    """Lists, dicts and optionals of instances are converted in both directions."""

    @ts.jit.script
    def last(ps: List[Point], other: Optional[Point]) -> List[Point]:
        return [ps[-1]] if other is None else [ps[-1], other]

    assert [p.x for p in last([Point(1), Point(2)], None)] == [2]
    assert [p.x for p in last([Point(1)], Point(7))] == [1, 7]
    with pytest.raises(RuntimeError, match="was missing attribute x"):
        last([3], None)


def test_attribute_of_an_invalid_type():
    """An instance with a wrong attribute type raises an error with the attribute's name."""
    p = Point(3)
    p.x = "three"
    with pytest.raises(RuntimeError, match="Could not cast attribute 'x' to type int"):
        ts.jit.script(double)(p)


def test_unused_method_that_does_not_compile():
    """A method that does not compile raises an error only for its callers and for scripting of the class."""
    assert ts.jit.script(total)(Holder([Point(1), Point(5)])) == 6
    with pytest.raises(ts.jit.FrontendError, match="Lambda"):
        ts.jit.script(uses_unsupported)
    with pytest.raises(ts.jit.FrontendError, match="Lambda"):
        ts.jit.script(Holder)


def test_exit_when_the_body_fails():
    """An exception leaves the objects that were entered, innermost first, in this frame and its callers."""

    @ts.jit.script
    def fails(xs: List[int], order: ts.Tensor) -> int:
        with Context(order, 1):
            if len(xs) > 5:
                raise ValueError("long")
            y = xs[7]
        return y

    @ts.jit.script
    def outer(xs: List[int], order: ts.Tensor) -> int:
        with Context(order, 2), Context(order, 3):
            return fails(xs, order)

    for xs, message in ([1], "list index out of range"), ([1] * 6, "long"):
        order = ts.zeros([1])
        with pytest.raises(RuntimeError, match=message):
            outer(xs, order)
        assert order.item() == 132


def test_inheritance_is_rejected():
    """A scripted class cannot have base classes, as in PyTorch."""

    class Derived(Point):
        pass

    with pytest.raises(RuntimeError, match="TorchScript classes does not support inheritance yet"):
        ts.jit.script(Derived)


@pytest.mark.parametrize(
    "body, message",
    [
        ("self.x = 1\n        self.x = 'a'", "Wrong type for attribute assignment. Expected int but got str"),
        ("if 1 == 1:\n            self.x = 1", "First assignment cannot be in a control-flow block"),
        ("self.x = 1\n        del self.x", "del statements are only supported"),
        ("self.y", "object has no attribute or method 'y'. Did you forget to initialize an attribute"),
        ("self.x = 1\n    def g(self):\n        self.z = 1", "Tried to set nonexistent attribute: z."),
        ("x = 1\n        x.y = 2", "Tried to set an attribute: y on a non-class: int"),
    ],
)
def test_errors(body, message, tmp_path):
    """Invalid constructors raise PyTorch's errors."""
    path = tmp_path / "bad_class.py"
    path.write_text(f"class Bad:\n    def __init__(self):\n        {body}\n")
    names: dict[str, Any] = {"__name__": "bad_class"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(ts.jit.FrontendError) as failure:
        ts.jit.script(names["Bad"])
    assert message in str(failure.value)


@ts.jit.interface
class Measured:
    def norm(self) -> float:
        pass


@ts.jit.interface
class Named:
    def name(self) -> str:
        pass


def measure(m: Measured) -> float:
    return m.norm()


def test_interface_arguments():
    """An instance passed as an interface becomes an object of its class; other classes are rejected."""

    def known(p: Point, h: Holder) -> bool:  # the classes must already be scripted, as in PyTorch
        return True

    ts.jit.script(known)
    f = ts.jit.script(measure)
    assert f(Point(3)) == 9.5
    with pytest.raises(RuntimeError, match="does not have method 'norm'"):
        f(Holder([]))


def test_interface_errors():
    """A class that lacks an interface method, or declares it with other types, is rejected at compile
    time."""

    def lacks(h: Holder) -> float:
        return measure(h)

    def unlike(n: Named) -> float:
        return measure(n)

    with pytest.raises(ts.jit.FrontendError, match="Holder' does not have method 'norm' but"):
        ts.jit.script(lacks)
    with pytest.raises(ts.jit.FrontendError, match=r"Interface '.*Named' does not have method 'norm'"):
        ts.jit.script(unlike)
    with pytest.raises(RuntimeError, match="should contain 'pass' statement"):

        @ts.jit.interface
        class WithBody:
            def f(self) -> int:
                return 3

    with pytest.raises(RuntimeError, match="does not support inheritance yet"):

        @ts.jit.interface
        class Derived(Measured):
            pass


def test_handle_of_an_object():
    """`script(instance)` returns a handle; scripts that receive the handle change the referenced object."""
    handle = ts.jit.script(Point(3))
    assert (handle.x, handle.y, handle.norm()) == (3, 0.5, 9.5)
    ts.jit.script(double)(handle)
    assert handle.x == 6
    handle.x = 1
    assert handle.norm() == 1.5
    assert "prim::GetAttr" in str(handle.norm.graph)
    with pytest.raises(AttributeError, match="does not have a field with name 'z'"):
        handle.z
    with pytest.raises(RuntimeError, match="does not have an attribute with name 'z'"):
        handle.z = 3


def test_instances_as_any():
    """An instance passed as `Any` is an object of its class if the class is scripted."""

    @ts.jit.script
    def which(x: Any) -> int:
        if isinstance(x, Point):
            return x.x
        return -1

    assert which(Point(5)) == 5
    assert which("x") == -1


def test_sorting_needs_an_order():
    """A list of objects without `__lt__` cannot be sorted."""

    @ts.jit.script
    def sort(xs: List[Point]):
        xs.sort()

    sort([])
    with pytest.raises(RuntimeError, match="must define a __lt__ method with two inputs of type"):
        sort([Point(1), Point(2)])


class Marked:
    __jit_unused_properties__ = ("strange",)

    def __init__(self, n: int):
        self.n = n

    @property
    def strange(self):
        return lambda: self.n

    @ts.jit.unused
    def unused(self, k: int) -> int:
        return locals()["k"]

    @ts.jit.ignore
    def ignored(self, k: int) -> int:
        return self.n + locals()["k"]

    def calls_unused(self) -> int:
        return self.unused(3)

    def calls_ignored(self) -> int:
        return self.ignored(4)


def test_marked_methods():
    """Unused methods raise if a script calls them, ignored methods run in Python; neither is compiled."""

    @ts.jit.script
    def f(n: int, unused: bool) -> int:
        m = Marked(n)
        return m.calls_unused() if unused else m.calls_ignored()

    assert ts.jit.script(Marked) is Marked
    assert f(5, False) == 9
    with pytest.raises(ts.jit.Error, match="annotated to be ignored and cannot be run"):
        f(5, True)


def test_gradient_modes():
    """`with ts.no_grad()` in a script restores grad mode at the end of the block."""

    @ts.jit.script
    def modes() -> List[bool]:
        results = [ts.is_grad_enabled()]
        with ts.no_grad():
            results.append(ts.is_grad_enabled())
            with ts.enable_grad():
                results.append(ts.is_grad_enabled())
            results.append(ts.is_grad_enabled())
        results.append(ts.is_grad_enabled())
        return results

    assert modes() == [True, False, True, False, True]
    assert "__torch__.torch.autograd.grad_mode.no_grad = prim::CreateObject()" in str(modes.graph)


def test_classes_in_a_compilation_unit():
    """Classes defined in a string can be used by its functions, by later functions, and in Python."""
    cu = ts.jit.CompilationUnit(
        """
class Pair:
    "Two ints."
    def __init__(self, a: int, b: int = 2):
        self.a = a
        self.b = b

    def swapped(self) -> Pair:
        return Pair(self.b, self.a)

def make(n: int) -> Pair:
    return Pair(n).swapped()
"""
    )
    pair = cu.make(7)
    assert (pair.a, pair.b, pair.swapped().a) == (2, 7, 7)
    cu.define("def total(p: Pair) -> int:\n    return p.a + p.b\n")
    assert cu.total(pair) == 9
    with pytest.raises(ts.jit.FrontendError, match="object has no attribute or method 'c'"):
        cu.define("def f(p: Pair) -> int:\n    return p.c\n")


@dataclass(frozen=True)
class Key:
    n: int


@dataclass
class Filled:
    items: List[int] = field(default_factory=list)


def test_errors_of_methods_precede_a_missing_constructor():
    class Odd:
        def method(self):
            import math  # noqa: F401

    def function():
        return Odd()

    with pytest.raises(RuntimeError, match="import statements") as caught:
        ts.jit.script(function)
    assert "is being compiled since it was called from 'function'" in str(caught.value)


def test_frozen_data_classes():
    @ts.jit.script
    def reads(key: Key) -> int:
        return key.n + Key(2).n

    assert reads(Key(1)) == 3

    def writes(key: Key):
        key.n = 3

    with pytest.raises(ts.jit.FrontendError, match=r"cannot assign to field 'n': .*Key is a frozen dataclass"):
        ts.jit.script(writes)


def test_default_factory_fields_are_rejected():
    with pytest.raises(NotImplementedError, match="Default factory initializers are not supported"):
        ts.jit.script(Filled)


def test_method_of_a_class_needs_its_object():
    def main(p: Point) -> float:
        return Point.norm(3)

    with pytest.raises(ts.jit.FrontendError, match="takes an object of its class as its first argument"):
        ts.jit.script(main)
