"""Rejected arguments of exports and exported programs, and suggested fixes."""

import math
import re

import pytest

import ts
from tests.export.functions import FunctionOfOne
from ts import nn
from ts.errors import ConstraintViolationError, UserError
from ts.export import AdditionalInputs, Dim, export
from ts.export.dynamic_shapes import refine_dynamic_shapes_from_suggested_fixes as refined


class Adds(nn.Module):
    def forward(self, x, y):
        return x + y


class Adds1(nn.Module):
    def forward(self, x):
        return x + 1


@pytest.mark.parametrize(
    ("args", "kwargs", "got", "expected"),
    [
        ((), {"x": 1}, ["x"], []),
        ((), {"y": 1}, ["y"], ["x"]),
        ((1,), {}, [], ["x"]),
    ],
)
def test_keywords(args, kwargs, got, expected):
    x = ts.ones(3)
    example = ((), {"x": x}) if expected else ((x,), {})
    message = f"Ran into a kwarg keyword mismatch: Got the following keywords {got} but expected {expected}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        export(Adds1(), *example).module()(*(x for _ in args), **dict.fromkeys(kwargs, x))


@pytest.mark.parametrize(
    ("value", "message"),
    [(math.nan, "math.isnan(y)"), (math.inf, "y == math.inf"), (-math.inf, "y == -math.inf")],
)
def test_floats_without_a_value(value, message):
    program = export(Adds(), (ts.ones(2), value)).module()
    assert str(program(ts.zeros(1).expand(2), value).tolist()) == str([value, value])
    for other in (2.0, "nan"):
        with pytest.raises(AssertionError, match=f"^Guard failed: {re.escape(message)}$"):
            program(ts.ones(2), other)


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize(
    ("dim", "message"), [(Dim.DYNAMIC, "None, max=None"), (Dim.DYNAMIC(min=1, max=5), "1, max=5")]
)
def test_sizes_that_are_always_fixed(n, dim, message):
    message = (
        f"- Received user-specified dim hint Dim.DYNAMIC(min={message}), but export 0/1 specialized due to hint of "
        f"{n} for dimension inputs['x'].shape[1]."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        export(Adds1(), (ts.ones(2, n),), dynamic_shapes={"x": (None, dim)})
    assert export(Adds1(), (ts.ones(2, n),), dynamic_shapes={"x": (None, Dim.AUTO)}).range_constraints == {}


def test_sizes_out_of_their_range():
    for dim, message in (
        (Dim("n", min=5), "5, int_oo"),
        (Dim("n", min=5, max=9), "5, 9"),
        (2 * Dim("n", min=5), "10, int_oo"),
    ):
        with pytest.raises(ConstraintViolationError, match=rf"^3 not in range \[{message}\]\n\nThe error above"):
            export(Adds1(), (ts.ones(3),), dynamic_shapes={"x": {0: dim}})


@pytest.mark.parametrize("value", [2.5, "text"])
def test_numbers_and_texts_that_cannot_vary(value):
    with pytest.raises(
        UserError, match=r"Cannot associate shape DimHint\(AUTO\) specified at `dynamic_shapes\['y'\]`"
    ):
        export(Adds(), (ts.ones(2), value), dynamic_shapes={"x": None, "y": Dim.AUTO})


def test_dims_are_shown():
    n = Dim("n")
    assert [repr(x) for x in (n, n - 1, 2 * n, 2 * n + 1)] == ["Dim('n', min=0)", "n - 1", "2*n", "2*n + 1"]
    assert repr(Dim("n", min=2)) == "Dim('n')" and repr(Dim("n", min=3, max=5)) == "Dim('n', min=3, max=5)"
    assert repr(Dim.AUTO(max=5)) == "DimHint(AUTO, max=5)"


def test_additional_inputs():
    program = export(Adds1(), (ts.ones(3),))
    for x, message in (
        (ts.ones(4), r"Expected input at \*args\[0\].shape\[0\] to be equal to 3, but got 4. If you meant"),
        (ts.ones(3, 1), r"Unexpected number of dimensions in input at \*args\[0\].shape"),
    ):
        inputs = AdditionalInputs()
        inputs.add((ts.ones(3),))
        inputs.verify(program)
        inputs.add((x,))
        with pytest.raises(RuntimeError, match=message):
            inputs.verify(program)


class Asks(nn.Module):
    def forward(self, x, y, z):
        if x.shape[0] <= 7 or y.shape[0] % 3:
            raise ValueError("too small")
        return (x + z[1:]).sum() + y.sum()


def test_suggested_fixes_are_dims():
    args = ts.ones(9), ts.ones(6), ts.ones(10)
    shapes = {"x": {0: Dim("a")}, "y": [Dim("b")], "z": (Dim("c"),)}
    with pytest.raises(UserError, match="Suggested fixes") as error:
        export(Asks(), args, dynamic_shapes=shapes)
    better = refined(str(error.value), shapes)
    assert str(better) == "{'x': {0: Dim('a', min=8)}, 'y': [3*_b], 'z': (a + 1,)}"
    program = export(Asks(), args, dynamic_shapes=better).module()
    assert program(ts.ones(20), ts.ones(3), ts.ones(21)).item() == 43


def test_suggested_fixes_are_read():
    a, b = Dim("a"), Dim("b", max=30)
    for fixes, shapes, expected in (
        ("a = 4", {"x": (a, 2 * a + 1, b, None)}, "{'x': (4, 9, Dim('b', min=0, max=30), None)}"),
        (
            "a = b",
            ({0: a}, [b, Dim.AUTO]),
            "({0: Dim('b', min=0, max=30)}, [Dim('b', min=0, max=30), DimHint(AUTO)])",
        ),
    ):
        assert str(refined(f"Suggested fixes:\n  {fixes}\n\nThe error", shapes)) == expected
    for message, why in (
        ("no", "Suggested fixes not found"),
        ("Suggested fixes:\n  a = f(2)", "cannot read 'f"),
        ("Suggested fixes:\n  a = a + 1", "in terms of itself"),
        ("Suggested fixes:\n  a = )", "cannot read"),
    ):
        with pytest.raises(UserError, match=why):
            refined(message, {0: a})


def test_unsupported_names():
    with pytest.raises(NotImplementedError, match=r"torch\.export\.dynamic_shapes\.Constraint is not implemented in ts"):
        ts.export.dynamic_shapes.Constraint()


def test_specs_of_single_dimensions():
    """An int must equal the size. Indices of dimensions that the tensor does not have are ignored."""
    for shape, size in (({0: 5}, "L['x'].size()[0]"), ({-1: 5}, "L['x'].size()[1]"), ([3, 5], "L['x'].size()[1]")):
        with pytest.raises(ConstraintViolationError) as raised:
            export(Adds1(), (ts.ones(3, 4),), dynamic_shapes={"x": shape})
        expected = f"Static shape constraint of 5 does not match input size of {3 if '[0]' in size else 4}, for {size}"
        assert str(raised.value).startswith(f"{expected}\n\nThe error above occurred")
    for shape in ({0: 3, 1: Dim.AUTO}, {1: Dim.AUTO, -2: Dim.AUTO, 7: Dim.AUTO}):
        program = export(Adds1(), (ts.ones(3, 4),), dynamic_shapes={"x": shape})
        assert [str(r) for r in program.range_constraints.values()] == ["VR[2, int_oo]"]
        with pytest.raises(AssertionError, match=r"Guard failed: x.size\(\)\[0\] == 3"):
            program.module()(ts.ones(4, 4))


def test_failed_checks():
    """`_check` of a condition that is false for the example raises its message during the export."""
    for message, expected in ((None, "^Expected cond to be True, but got False."), (lambda: "too few", "^too few$")):
        with pytest.raises(RuntimeError, match=expected):
            export(
                FunctionOfOne(lambda x, m=message: (ts._check(x.shape[0] > 9, m), x)[1]), (ts.ones(3),),
                dynamic_shapes=({0: Dim.AUTO},),
            )  # fmt: skip


def test_strides_of_data_dependent_sizes():
    """`stride` of a tensor with data-dependent sizes needs no decision on the sizes."""
    program = export(FunctionOfOne(lambda x: x.nonzero()), (ts.ones(3),))
    value = next(n for n in program.graph.nodes if n.name == "nonzero").meta["val"]
    assert str(value.shape) == "torch.Size([u0, 1])" and str(value.stride()) == "(1, u0)"


def test_order_of_ranges():
    """Ranges of data-dependent symbols precede the ranges of sizes of arguments."""
    program = export(
        FunctionOfOne(lambda x: x.nonzero()), (ts.ones(3),), dynamic_shapes=({0: Dim.AUTO},)
    )  # fmt: skip
    assert [str(s) for s in program.range_constraints] == ["u0", "s0"]
