"""Dynamic int arguments: the conditions of the program are checked in each call."""

import io

import pytest

import ts
from tests.export.functions import Function
from ts.errors import ConstraintViolationError
from ts.export import Dim, export


def branch_on(truth):
    """Return a function that computes x or -x depending on a condition on n."""
    return lambda x, n: x if truth(n) else -x


def checked(x, n):
    ts._check(n < 10)
    return x * n


# Programs over n, which is 4 in the example, with the smallest and largest accepted n.
RANGES = {
    "n > 4": (branch_on(lambda n: n > 4), 0, 4),
    "n >= 4": (branch_on(lambda n: n >= 4), 4, None),
    "n < 2**40": (branch_on(lambda n: n < 2**40), 0, 2**40 - 1),
    "n == 4": (branch_on(lambda n: n == 4), 4, 4),
    "2 * n < 12": (branch_on(lambda n: 2 * n < 12), 0, 5),
    "a check": (checked, 0, 9),
    "int(n)": (lambda x, n: x + int(n), 4, 4),
    "tensor_split": (lambda x, n: x.tensor_split(n), 4, 4),
    "x[1:n]": (lambda x, n: x[1:n], 3, 9),
    "x[n : n + 2]": (lambda x, n: x[n : n + 2], 0, 7),
    "x[n:]": (lambda x, n: x[n:], 0, 7),
    "x[-n:]": (lambda x, n: x[-n:], 2, 9),
    "x[n]": (lambda x, n: x[n], 0, 8),
    "x[:n] of as many": (lambda x, n: x[:n] + ts.ones(4), 4, 4),
}


def values(result):
    return [x.tolist() for x in result] if isinstance(result, list | tuple) else result.tolist()


def saved_and_loaded(program):
    file = io.BytesIO()
    ts.export.save(program, file)
    file.seek(0)
    return ts.export.load(file)


def check_ends(program, function, smallest, largest):
    """Check that the program accepts numbers in the range and rejects others before it runs."""
    x = ts.arange(9.0)
    module = program.module()
    for n in {smallest, 4, smallest + 1000 if largest is None else largest}:
        assert values(module(x, n)) == values(function(x, n))
    fixed = smallest == largest
    for n, relation, end in ((smallest - 1, ">=", smallest), (None if largest is None else largest + 1, "<=", largest)):
        if n is None:
            continue
        with pytest.raises(AssertionError, match="Guard failed") as info:
            module(x, n)
        assert str(info.value) == f"Guard failed: b {'==' if fixed and n >= 0 else relation} {end}"


@pytest.mark.parametrize("text", RANGES)
def test_range_of_int_arguments(text):
    function, smallest, largest = RANGES[text]
    program = export(Function(function), (ts.arange(9.0), 4), dynamic_shapes=(None, Dim.AUTO))
    check_ends(program, function, smallest, largest)
    check_ends(saved_and_loaded(program), function, smallest, largest)


def test_declared_ranges():
    """`Dim.AUTO(min=..., max=...)` declares the range of an int argument."""

    def function(x, n):
        return x * n

    for hint, smallest, largest in (
        (Dim.AUTO(max=9), 0, 9),
        (Dim.AUTO(min=3, max=9), 3, 9),
        (Dim.AUTO(min=3), 3, None),
    ):
        program = export(Function(function), (ts.arange(9.0), 4), dynamic_shapes=(None, hint))
        (range,) = program.range_constraints.values()
        assert (range.lower, str(range.upper)) == (smallest, "int_oo" if largest is None else str(largest))
        check_ends(program, function, smallest, largest)
    with pytest.raises(ConstraintViolationError, match=r"b = 4 not in range \[0, 3\]"):
        export(Function(function), (ts.arange(9.0), 4), dynamic_shapes=(None, Dim.AUTO(max=3)))


def test_within_a_dict():
    def function(x, d):
        return x if d["n"] > 4 else -x

    program = export(Function(function), (ts.ones(3), {"n": 4}), dynamic_shapes=(None, {"n": Dim.AUTO}))
    for each in (program, saved_and_loaded(program)):
        assert each.module()(ts.ones(3), {"n": 2}).tolist() == [-1, -1, -1]
        with pytest.raises(AssertionError, match=r"Guard failed: b\['n'\] <= 4"):
            each.module()(ts.ones(3), {"n": 7})


@pytest.mark.parametrize("first", [True, False])
def test_equal_to_a_size(first):
    """An int argument may be constrained to equal a tensor size, for both argument orders."""

    def function(*args):
        n, x = args if first else args[::-1]
        return x if x.shape[0] == n else -x

    hints = (Dim.AUTO, {0: Dim.AUTO})
    program = export(
        Function(function), (4, ts.ones(4)) if first else (ts.ones(4), 4),
        dynamic_shapes=hints if first else hints[::-1],
    )  # fmt: skip
    for each in (program, saved_and_loaded(program)):
        module = each.module()
        assert module(*((3, ts.ones(3)) if first else (ts.ones(3), 3))).tolist() == [1, 1, 1]
        with pytest.raises(AssertionError, match=r"Guard failed: [ab](\.size\(\)\[0\])? == [ab]"):
            module(*((5, ts.ones(3)) if first else (ts.ones(3), 5)))


@pytest.mark.parametrize(
    "given, name", [(7.5, "float"), (True, "bool"), ("a", "str"), (None, "NoneType"), (ts.ones(1), "Tensor")]
)
def test_arguments_of_other_types(given, name):
    """Arguments other than ints are rejected with an error that names their type."""
    program = export(Function(lambda x, n: x * n), (ts.ones(3), 4), dynamic_shapes=(None, Dim.AUTO))
    for each in (program, saved_and_loaded(program)):
        with pytest.raises((AssertionError, ValueError)) as info:
            each.module()(ts.ones(3), given)
        if given is not None:  # rejected as a tree with other leaves
            assert f"b must be an int, but it is a {name}" in str(info.value)


def test_step_of_a_slice():
    """A slice step is fixed, which a guard of the program checks."""
    program = export(Function(lambda x, n: x[::n]), (ts.arange(9.0), 4), dynamic_shapes=(None, Dim.AUTO))
    check_ends(program, lambda x, n: x[::n], 4, 4)
    check_ends(saved_and_loaded(program), lambda x, n: x[::n], 4, 4)


def called(name):
    return lambda x, n: getattr(ts.nn.functional, name)(x, n)


# Operators whose int argument is fixed in PyTorch's exports, and operators whose int argument may vary.
FIXED = {
    "avg_pool1d": called("avg_pool1d"),
    "max_pool1d": called("max_pool1d"),
    "sum": lambda x, n: x.sum(n),
    "mean": lambda x, n: x.mean((n,)),
    "softmax": lambda x, n: x.softmax(n),
    "diagonal": lambda x, n: x[0].diagonal(n),
}
VARYING = {
    "stride": lambda x, n: ts.nn.functional.conv1d(x, ts.ones(1, 1, 2), stride=n),
    "padding": lambda x, n: ts.nn.functional.conv1d(x, ts.ones(1, 1, 2), padding=n),
    "dilation": lambda x, n: ts.nn.functional.conv1d(x, ts.ones(1, 1, 2), dilation=n),
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed_by_an_operator(name):
    function, x = FIXED[name], ts.arange(9.0).reshape(1, 1, 9)
    module = export(Function(function), (x, 2), dynamic_shapes=(None, Dim.AUTO)).module()
    assert module(x, 2).tolist() == function(x, 2).tolist()
    for n in (1, 3):
        with pytest.raises(AssertionError, match="Guard failed: b == 2"):
            module(x, n)


def test_partly_fixed_int_arguments():
    """A dimension computed from an int argument constrains only the computed value."""
    program = export(Function(lambda x, n: x.sum(n % 2)), (ts.ones(2, 3), 4), dynamic_shapes=(None, Dim.AUTO))
    assert program.module()(ts.ones(2, 3), 6).tolist() == [2, 2, 2]
    with pytest.raises(AssertionError, match="Guard failed: b % 2 == 0"):
        program.module()(ts.ones(2, 3), 5)


@pytest.mark.parametrize("name", VARYING)
def test_convolutions(name):
    """Strides, paddings and dilations may vary; computed sizes are those of the result."""

    def function(x, n):
        y = VARYING[name](x, n)
        return y, y.shape[2]

    x = ts.arange(9.0).reshape(1, 1, 9)
    program = export(Function(function), (x, 2), dynamic_shapes=(None, Dim.AUTO))
    for n in (2, 3, 4, 5):
        found, length = program.module()(x, n)
        assert found.tolist() == VARYING[name](x, n).tolist()
        assert length == found.shape[2]
