"""Guards on the contiguity of recorded tensors. All expected results are those of PyTorch 2.13."""

import re

import pytest

import ts
from tests.export.functions import FunctionOfOne
from ts.export import Dim, export

# function of x | shape of x, with the dynamic dimension after a colon | range of the dynamic size
RANGES = """
x[1:] | 6:0 | 3 int_oo
x[2:] | 6:0 | 4 int_oo
x[1:-1] | 6:0 | 4 int_oo
x[::3] | 7:0 | 4 int_oo
x[:, 1:] | 4,6:1 | 2 int_oo
x[: x.shape[0] // 2] | 6:0 | 4 int_oo
x[x.shape[0] // 2 :] | 6:0 | 2 int_oo
x.view(-1, 2) | 8:0 | 2 int_oo
x.chunk(2) | 7:0 | 3 int_oo
x.split(2) | 6:0 | 6 int_oo
x.split(2) | 7:0 | 6 7
ts.cat([x, x[1:]]) | 4:0 | 3 int_oo
x.new_zeros(x.shape[0] - 2) | 4:0 | 4 int_oo
x.new_zeros(x.shape[0] // 2) | 5:0 | 4 int_oo
ts.arange(1, x.shape[0]) | 4:0 | 3 int_oo
ts.diff(x, n=2) | 6:0 | 4 int_oo
x + 1 if x.shape[0] != 2 else x | 5:0 | 2 int_oo
x + 1 if x.shape[0] * 2 > 7 else x | 5:0 | 2 int_oo
x + 1 if x.shape[0] // 2 > 1 else x | 5:0 | 4 int_oo
"""

# function of x | shape of x | violated conditions of the `Dim` n | suggested fixes
REFUSED = """
x[1:] | 6:0 | 3 <= L and L <= IntInfinity() | n = Dim('n', min=3)
x[:, 1:] | 4,6:1 | ((-1) + L) != 1. |
x[:, :2] | 4,3:1 | L != 2. |
x[:, : (x.shape[1] + 1) // 2] | 4,7:1 | ((1 + L) // 2) <= L.; ((1 + L) // 2) != 1.; \
L != ((1 + L) // 2). | _n = Dim('_n', max=oo); n = 2*_n - 1
x[:, : (x.shape[1] + 2) // 3] | 4,7:1 | ((2 + L) // 3) <= L.; ((2 + L) // 3) != 1.; \
L != ((2 + L) // 3). | _n = Dim('_n', max=oo); n = 3*_n - 2
x.view(-1, 2) | 8:0 | (L % 2) == 0.; (L // 2) != 1. | _n = Dim('_n', min=1, max=oo); n = 2*_n
ts.nn.functional.conv1d(x, ts.ones(3, 2, 3)) | 2,2,9:2 | ((-2) + L) != 1.; 3 <= L and L <= IntInfinity() | \
n = Dim('n', min=3)
ts.nn.functional.max_pool2d(x, 2) | 1,2,6,9:3 | (L // 2) != 1. |
"""


def cases(text):
    for line in text.replace("\\\n", "").strip().splitlines():
        code, shape, *expected = (part.strip() for part in line.split("|"))
        sizes, _, dim = shape.partition(":")
        yield code, [int(n) for n in sizes.split(",")], int(dim), *expected


def function(code):
    return FunctionOfOne(eval(f"lambda x: {code}", {"ts": ts}))


@pytest.mark.parametrize(("code", "shape", "dim", "expected"), list(cases(RANGES)))
@pytest.mark.parametrize("spec", [Dim.AUTO, Dim.DYNAMIC])
def test_ranges(code, shape, dim, expected, spec):
    program = export(function(code), (ts.ones(shape),), dynamic_shapes=({dim: spec},))
    assert [str(r) for r in program.range_constraints.values()] == [f"VR[{expected.replace(' ', ', ')}]"]


@pytest.mark.parametrize(("code", "shape", "dim", "conditions", "fixes"), list(cases(REFUSED)))
def test_named_dimensions(code, shape, dim, conditions, fixes):
    """A `Dim` whose range the guards exclude is rejected, and the message suggests other `Dim`s."""
    with pytest.raises(ts.errors.UserError) as raised:
        export(function(code), (ts.ones(shape),), dynamic_shapes=({dim: Dim("n")},))
    message = str(raised.value).partition("\n\nThe error above")[0]
    lines = [line.partition("generated guard ")[2] for line in message.splitlines() if "satisfy" in line]
    size = re.escape(f"L['x'].size()[{dim}]")
    assert [re.sub(size, "L", line) for line in lines] == conditions.split("; ")
    suggested = message.partition("Suggested fixes:\n")[2]
    assert [line.strip() for line in suggested.splitlines()] == (fixes.split("; ") if fixes else [])


@pytest.mark.parametrize(
    ("code", "shape", "dim", "accepted"),
    [
        ("x[:, 1:]", (4, 6), 1, "1345"),
        ("x[1:]", (6,), 0, "345"),
        ("x[:, : x.shape[1] // 2]", (4, 7), 1, "45"),
        ("x.view(-1, 2)", (8,), 0, "4"),
    ],
)
def test_calls(code, shape, dim, accepted):
    """Calls with sizes for which the contiguity differs are rejected. Other calls return the eager result."""
    program = export(function(code), (ts.rand(shape),), dynamic_shapes=({dim: Dim.AUTO},))
    run = program.module()
    for n in range(1, 6):
        x = ts.rand([*shape[:dim], n, *shape[dim + 1 :]])
        if str(n) in accepted:
            assert ts.equal(run(x), function(code)(x))
        else:
            with pytest.raises(AssertionError, match="Guard failed"):
                run(x)


def test_derived_dimensions():
    """Guards that hold in the range of the root `Dim` do not reject a derived `Dim`."""
    shapes = ({0: 2 * Dim("n", max=50)},)
    program = export(function("x.view(-1, 2)"), (ts.ones(8),), dynamic_shapes=shapes)
    assert program.module()(ts.ones(12)).shape == (6, 2)
    assert sorted(map(str, program.range_constraints.values())) == ["VR[0, 100]", "VR[2, 50]"]


def test_specialized_by_guards():
    """The message names the only size that satisfies the guards."""
    with pytest.raises(ts.errors.UserError) as raised:
        export(function("x.split(2)"), (ts.ones(7),), dynamic_shapes=({0: Dim("n")},))
    message = str(raised.value)
    assert "L['x'].size()[0] <= 7Specializations unexpectedly required (n)! For more" in message
    assert (
        "\n  - solving the guards generated for n = L['x'].size()[0] resulted in a specialized value of 7.\n"
        "\nSuggested fixes:\n  n = 7\n"
    ) in message
