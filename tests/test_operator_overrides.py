"""The functions that `__torch_function__` receives for Python operators and special methods."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import ts
from ts import Tensor


class Logged(Tensor):
    calls: list[tuple[str, Any, list[str], list[str], Any]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        names = [type(x).__name__ for x in args]
        cls.calls.append((func.__name__, func, names, [t.__name__ for t in types], kwargs))
        return super().__torch_function__(func, types, args, kwargs or {})


def _calls(operation: Any) -> list[tuple[str, Any, list[str], list[str], Any]]:
    Logged.calls.clear()
    operation()
    return list(Logged.calls)


def _logged(kind: str) -> Tensor:
    values = {"int": [1, 2], "float": [1.0, 2.0], "matrix": [[1.0, 0.0], [0.0, 1.0]]}[kind]
    return ts.tensor(values).as_subclass(Logged)


# kind of the operands, Python operator, and the method of Tensor for: logged <operator> number, number
# <operator> logged, logged <operator> Tensor, Tensor <operator> logged. A method with "()" receives exchanged
# operands.
TABLE: list[tuple[str, str, str, str, str, str]] = [
    ("float", "add", "add", "add()", "add", "add"),
    ("float", "sub", "sub", "__rsub__()", "sub", "sub"),
    ("float", "mul", "mul", "mul()", "mul", "mul"),
    ("float", "truediv", "div", "__rdiv__()", "div", "div"),
    ("float", "floordiv", "__floordiv__", "__rfloordiv__()", "__floordiv__", "__floordiv__"),
    ("float", "mod", "remainder", "__rmod__()", "remainder", "remainder"),
    ("float", "pow", "pow", "__rpow__()", "pow", "pow"),
    ("int", "and_", "__and__", "bitwise_and()", "__and__", "__and__"),
    ("int", "or_", "__or__", "bitwise_or()", "__or__", "__or__"),
    ("int", "xor", "__xor__", "bitwise_xor()", "__xor__", "__xor__"),
    ("int", "lshift", "__lshift__", "__rlshift__()", "__lshift__", "__lshift__"),
    ("int", "rshift", "__rshift__", "__rrshift__()", "__rshift__", "__rshift__"),
    ("float", "eq", "__eq__", "__eq__()", "__eq__", "__eq__()"),
    ("float", "ne", "ne", "ne()", "ne", "ne()"),
    ("float", "lt", "lt", "gt()", "lt", "gt()"),
    ("float", "le", "le", "ge()", "le", "ge()"),
    ("float", "gt", "gt", "lt()", "gt", "lt()"),
    ("float", "ge", "ge", "le()", "ge", "le()"),
    ("float", "iadd", "add_", "", "add_", ""),
    ("float", "isub", "sub_", "", "sub_", ""),
    ("float", "imul", "mul_", "", "mul_", ""),
    ("float", "itruediv", "div_", "", "div_", ""),
    ("float", "ifloordiv", "floor_divide_", "", "floor_divide_", ""),
    ("float", "imod", "remainder_", "", "remainder_", ""),
    ("float", "ipow", "pow_", "__rpow__()", "pow_", "pow_"),
    ("int", "iand", "__iand__", "bitwise_and()", "__iand__", "__iand__"),
    ("int", "ior", "__ior__", "bitwise_or()", "__ior__", "__ior__"),
    ("int", "ixor", "__ixor__", "bitwise_xor()", "__ixor__", "__ixor__"),
    ("int", "ilshift", "__ilshift__", "__rlshift__()", "__ilshift__", "__ilshift__"),
    ("int", "irshift", "__irshift__", "__rrshift__()", "__irshift__", "__irshift__"),
    ("matrix", "matmul", "", "", "matmul", "matmul"),
]


PYTHON_METHODS = frozenset(
    "__floordiv__ __rfloordiv__ __rsub__ __rdiv__ __rmod__ __rlshift__ __rrshift__ pow pow_ __rpow__".split()
)


@pytest.mark.parametrize(("kind", "name", "number", "reflected", "tensor", "tensor_first"), TABLE)
def test_binary_operators(
    kind: str, name: str, number: str, reflected: str, tensor: str, tensor_first: str
) -> None:
    function = getattr(operator, name)
    plain = ts.ones_like(_logged(kind).as_subclass(Tensor))
    cases = [
        (number, lambda: function(_logged(kind), 2), ["Logged", "int"]),
        (reflected, lambda: function(2, _logged(kind)), ["int", "Logged"]),
        (tensor, lambda: function(_logged(kind), plain), ["Logged", "Tensor"]),
        (tensor_first, lambda: function(plain, _logged(kind)), ["Tensor", "Logged"]),
    ]
    for method, operation, operands in cases:
        if method:
            calls = _calls(operation)
            expected = method.removesuffix("()")
            assert [call[0] for call in calls] == [expected]
            assert calls[0][1] is getattr(Tensor, expected)
            assert calls[0][2] == (operands[::-1] if method.endswith("()") else operands)
            # The handlers of methods that PyTorch implements in Python also receive the class Tensor, and a dictionary
            # of keyword arguments.
            is_listed = expected in PYTHON_METHODS and "Tensor" in operands
            assert calls[0][3] == (["Logged", "Tensor"] if is_listed else ["Logged"])
            assert calls[0][4] == ({} if expected in PYTHON_METHODS else None)


INVALID = [
    ("floordiv", "__floordiv__", "__rfloordiv__"), ("sub", "", "__rsub__"), ("truediv", "", "__rdiv__"), ("pow", "pow", "__rpow__"),
    ("mod", "", "__rmod__"), ("matmul", "", "__rmatmul__"), ("lshift", "", "__rlshift__"),
    ("rshift", "", "__rrshift__"), ("and_", "", ""), ("or_", "", ""), ("xor", "", ""), ("add", "", ""),
    ("mul", "", ""), ("lt", "", ""), ("ge", "", ""), ("iadd", "", ""), ("isub", "", "__rsub__"), ("iand", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "first", "second"), INVALID)
def test_unsupported_operands(name: str, first: str, second: str) -> None:
    """For operands that an operator rejects, `__torch_function__` is called exactly where PyTorch calls it."""
    function = getattr(operator, name)
    for method, operation in (
        (first, lambda: function(_logged("int"), None)),
        (second, lambda: function(None, _logged("int"))),
    ):
        Logged.calls.clear()
        with pytest.raises(TypeError, match=r"not supported between|unsupported operand type"):
            operation()
        assert [call[0] for call in Logged.calls] == ([method] if method else [])


def test_subscripts_of_plain_tensors() -> None:
    """Handlers of subscripts and values are called as those of the tensor."""
    plain, index = ts.tensor([1.0, 2.0, 3.0]), _logged("int")
    for operation, method in (
        (lambda: plain[index], "__getitem__"),
        (lambda: plain[index, ...], "__getitem__"),
        (lambda: operator.setitem(plain, index, 5.0), "__setitem__"),
        (lambda: operator.setitem(plain, slice(0, 2), _logged("float")), "__setitem__"),
    ):
        calls = _calls(operation)
        assert [call[0] for call in calls] == [method]
        assert calls[0][1] is getattr(Tensor, method) and calls[0][3] == ["Logged"]
    assert plain.tolist() == [1, 2, 5]
    assert type(plain[index]) is Logged


def test_comparisons_with_other_objects() -> None:
    for other in (None, "a", object()):
        assert [call[0] for call in _calls(lambda other=other: _logged("float") == other)] == ["__eq__"]
        assert _calls(lambda other=other: _logged("float") != other) == []
        assert (_logged("float") == other, _logged("float") != other) == (False, True)


SPECIAL: list[tuple[str, Any, Any]] = [
    ("__len__", "float", len), ("__bool__", "one", bool), ("__float__", "one", float), ("__int__", "one", int),
    ("__complex__", "one", complex), ("__index__", "one", operator.index), ("__hash__", "float", None),
    ("__contains__", "float", lambda x: 1.0 in x), ("__reversed__", "float", reversed),
    ("__getitem__", "float", lambda x: x[0]), ("__setitem__", "float", lambda x: operator.setitem(x, 0, 1.0)),
    ("__invert__", "int", operator.invert), ("neg", "float", operator.neg), ("abs", "float", abs),
    ("positive", "float", operator.pos), ("__array__", "float", lambda x: x.__array__()),
    ("__array_wrap__", "float", lambda x: x.__array_wrap__(np.ones(2))),
    ("__dlpack__", "float", lambda x: x.__dlpack__()), ("__dlpack_device__", "float", lambda x: x.__dlpack_device__()),
    ("__format__", "one", lambda x: format(x)), ("__repr__", "float", repr),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "operation"), SPECIAL)
def test_special_methods(name: str, kind: str, operation: Any) -> None:
    x = ts.tensor(2).as_subclass(Logged) if kind == "one" else _logged(kind)
    calls = _calls(lambda: (operation or (lambda x: None))(x))
    expected = [] if operation is None else [name]
    assert [call[0] for call in calls][:1] == expected
    if operation is not None:
        assert calls[0][1] is getattr(Tensor, name)


def test_names_of_divisions() -> None:
    """As in PyTorch, the method `__rtruediv__` has the name `__rdiv__`."""
    assert Tensor.__rtruediv__ is Tensor.__rdiv__
    assert Tensor.__rtruediv__.__name__ == "__rdiv__"
    assert ts.tensor([2.0]).__rdiv__(3).tolist() == [1.5]


class Refusing(Tensor):
    calls: list[tuple[str, str, list[str]]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls.append((cls.__name__, func.__name__, [type(x).__name__ for x in args]))
        return NotImplemented


class Other(Refusing):
    pass


REFUSED = [
    ("add", "add", "add"), ("sub", "sub", "__rsub__"), ("mul", "mul", "mul"), ("truediv", "div", "__rdiv__"),
    ("floordiv", "__floordiv__", "__rfloordiv__"), ("mod", "remainder", "__rmod__"), ("pow", "pow", "__rpow__"),
    ("and_", "__and__", "bitwise_and"), ("lshift", "__lshift__", "__rlshift__"), ("lt", "lt", "gt"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "direct", "reflected"), REFUSED)
def test_refusing_handlers(name: str, direct: str, reflected: str) -> None:
    """If all handlers return NotImplemented, Python tries the reflected method, then raises TypeError."""
    function, x, y = getattr(operator, name), ts.ones(2).as_subclass(Other), ts.ones(2).as_subclass(Refusing)
    Refusing.calls.clear()
    with pytest.raises(TypeError, match=r"unsupported operand type|not supported between"):
        function(x, y)
    operands = ["Other", "Refusing"]
    assert Refusing.calls == [
        ("Other", direct, operands), ("Refusing", direct, operands),
        ("Other", reflected, operands[::-1]), ("Refusing", reflected, operands[::-1]),
    ]  # fmt: skip


class Foreign:
    """A class with `__torch_function__` that is no tensor."""

    calls: list[list[str]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> str:
        cls.calls.append([t.__name__ for t in types])
        return str(func.__name__)


def test_types_of_python_functions() -> None:
    """`types` of functions that PyTorch implements in Python contains Tensor, in the order of the arguments."""
    plain, foreign, logged = ts.ones(2), Foreign(), _logged("float")
    Foreign.calls.clear()
    assert [foreign / plain, plain // foreign, foreign - plain, plain + foreign] == [
        "__rdiv__", "__floordiv__", "__rsub__", "add",
    ]  # fmt: skip
    assert Foreign.calls == [["Tensor", "Foreign"]] * 3 + [["Foreign"]]
    assert _calls(lambda: ts.nn.functional.mse_loss(plain, logged))[0][3:] == (["Logged", "Tensor"], {})
    assert _calls(lambda: ts.einsum("i,i", plain, logged))[0][3:] == (["Logged", "Tensor"], {})
    assert _calls(lambda: ts.is_floating_point(logged))[0][3:] == (["Logged"], None)
    assert _calls(lambda: logged.grad)[0][3:] == (["Logged"], None)
    assert _calls(lambda: len(logged))[0][3:] == (["Logged"], {})


def test_equality_uses_the_class_of_the_first_operand() -> None:
    """The handler of `==` receives only the class of the first operand; other comparisons receive both."""
    calls = _calls(lambda: _logged("float") == ts.ones(2).as_subclass(Refusing))
    assert calls[0][0] == "__eq__" and calls[0][3] == ["Logged"]
    calls = _calls(lambda: ts.Tensor.lt(_logged("float"), ts.ones(2).as_subclass(Logged)))
    assert calls[0][0] == "lt" and calls[0][3] == ["Logged"]


def test_iteration() -> None:
    """Iteration over a subclass returns tensors of the subclass, by the method `unbind`."""
    rows: list[Any] = []
    assert [call[0] for call in _calls(lambda: rows.extend(_logged("float")))][:2] == ["dim", "unbind"]
    assert [type(row) for row in rows] == [Logged, Logged]


def test_messages_of_refused_methods() -> None:
    x = ts.ones(2).as_subclass(Refusing)
    with pytest.raises(TypeError, match=r"^no implementation found for 'torch\._tensor\.__len__' on types that"):
        len(x)
    with pytest.raises(TypeError, match=r"^Multiple dispatch failed for 'torch\.Tensor\.__getitem__'; all"):
        x[0]
