"""Export errors for unconstrained dynamic sizes have PyTorch's lines in order, with suggested fixes."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sympy")

import ts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def least(x, y, z):
    return (x + 1 if x.shape[0] > 3 else x), y + z


def number_and_remainder(x, y, z):
    return (x + 1 if x.shape[0] % 2 == 0 else x), (y * 2 if y.shape[0] == 4 else y), z


def most(x, y, z):
    return (x, y, z) if x.shape[0] + y.shape[0] < 20 else x


def equal(x, y, z):
    return x[:4] + y, z + y


def sum_of_two(x, y, z):
    return ts.cat([x, y]) + z if isinstance(x, ts.Tensor) else torch.cat([x, y]) + z


PROGRAMS = {
    "least": (least, (6, 4, 4)),
    "number and remainder": (number_and_remainder, (6, 4, 9)),
    "most": (most, (6, 4, 9)),
    "equal": (equal, (6, 4, 4)),
    "a sum of two": (sum_of_two, (5, 4, 9)),
}


def _error_or_ranges(package, function, sizes):
    """Return the export error without its final advice, or the ranges of a successful export."""

    class Module(package.nn.Module):
        def forward(self, batch, other):
            return function(batch["x"][0], batch["y"], other)

    x, y, z = map(package.rand, sizes)
    n, m, k = (package.export.Dim(name) for name in "nmk")
    shapes = {"batch": {"x": [{0: n}], "y": {0: m}}, "other": {0: k}}
    try:
        program = package.export.export(Module(), ({"x": [x], "y": y}, z), dynamic_shapes=shapes)
    except package._dynamo.exc.UserError as error:
        return str(error).partition("\n\nThe error above")[0]
    return sorted(map(str, program.range_constraints.values()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_violated_constraints(name):
    """Violated constraints have PyTorch's error message."""
    function, sizes = PROGRAMS[name]
    assert _error_or_ranges(ts, function, sizes) == _error_or_ranges(torch, function, sizes)


def test_a_size_that_is_the_sum_of_two():
    """A size that is the sum of two sizes is checked when the program runs."""

    class Module(ts.nn.Module):
        def forward(self, x, y, z):
            return sum_of_two(x, y, z)

    shapes = tuple({0: ts.export.Dim(name)} for name in "nmk")
    program = ts.export.export(Module(), (ts.rand(5), ts.rand(4), ts.rand(9)), dynamic_shapes=shapes)
    assert program.module()(ts.rand(2), ts.rand(5), ts.rand(7)).shape == (7,)
    with pytest.raises(AssertionError, match=r"Guard failed: .*z\.size"):
        program.module()(ts.rand(2), ts.rand(5), ts.rand(8))
