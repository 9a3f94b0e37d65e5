"""Shape checks of exported files for all sizes, and descriptions of symbols."""

import io

import pytest

import ts
from tests.export.test_files import changed
from tests.test_cli import output
from ts.errors import ArchiveError
from ts.export import Dim, export, load, save
from ts.export.symbol_report import explain_symbols
from ts.export.shape_check import ShapeError, check_shapes


class Net(ts.nn.Module):
    def forward(self, x, y):
        if x.shape[0] > 2 * y.shape[0]:
            x = x[: y.shape[0]]
        k = y.sum().to(ts.int64).item()
        ts._check(k >= 2)
        return ts.cat([x, y]).sum(1), (x[: y.shape[0]] * y).view(-1), ts.zeros(k), y.nonzero()


@pytest.fixture(scope="module")
def program():
    shapes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    return export(Net(), (ts.ones(10, 4), ts.ones(3, 4)), dynamic_shapes=shapes)


@pytest.fixture(scope="module")
def saved(program):
    file = io.BytesIO()
    save(program, file)
    return file.getvalue()


def test_valid_programs(program, saved):
    for variant in (program, program.run_decompositions(), load(io.BytesIO(saved))):
        assert {str(q.condition) for q in check_shapes(variant)} <= {"s1 <= s0", "s0 >= s1"}


def program_with_false_size(name, dim, expression):
    """Return a change of the JSON that declares another size of a value."""

    def change(tree):
        values = tree["graph_module"]["graph"]["tensor_values"]
        values[name]["sizes"][dim] = {"as_expr": {"expr_str": expression, "hint": None}}

    return change


@pytest.mark.parametrize(
    ("name", "expression", "message"),
    [
        ("sum_2", "3*Symbol('s1', positive=True, integer=True)", "returns a tensor of shape [2*s1], but"),
        ("cat", "Symbol('s0', positive=True, integer=True)", r" for s0 = \d+, s1 = \d+"),
        ("mul_1", "Symbol('s1', positive=True, integer=True) + 1", "mul_1"),
    ],
)
def test_invalid_sizes(program, saved, name, expression, message):
    assert name in [n.name for n in program.graph.nodes]
    data = changed(saved, program_with_false_size(name, 0, expression))
    with pytest.raises(ArchiveError, match=message.replace("[2*s1]", r"\[2\*s1\]")):
        load(io.BytesIO(data))


def test_sizes_valid_for_the_example_only(saved):
    """A declared size is rejected if it is correct for the example only: 6 instead of twice a symbol."""
    data = changed(saved, program_with_false_size("cat", 0, "6"))
    with pytest.raises(
        ArchiveError, match=r"returns a tensor of shape \[2\*s1, 4\], but the program declares \[6, 4\]"
    ):
        load(io.BytesIO(data))


def test_explained(program):
    first, second, data, count = explain_symbols(program)
    assert (first.name, first.sources, first.range) == ("s0", ["x.size()[0]"], "5 to int_oo")
    lines = {c.text: c.where.text for c in first.conditions if c.where}
    assert lines["x.size()[0] > 2 * y.size()[0]"] == "if x.shape[0] > 2 * y.shape[0]:"
    assert (second.name, data.name, count.name) == ("s1", "u0", "u1")
    assert data.sources == ["item (aten.item.default)"] and data.range == "2 to int_oo"
    assert [(c.text, c.where.text) for c in data.conditions] == [
        ("u0 >= 2", "k = y.sum().to(ts.int64).item()")
    ]


def test_command(saved, tmp_path, capsys):
    path = tmp_path / "net.pt2"
    path.write_bytes(saved)
    code, message, _ = output(capsys, "explain-shapes", path)
    assert code == 0 and message.splitlines()[0] == "s0  x.size()[0]: 5 to int_oo"
    assert (
        f"    x.size()[0] > 2 * y.size()[0]    {__file__}:18  if x.shape[0] > 2 * y.shape[0]:"
        in message.splitlines()
    )
    assert output(capsys, "check", path)[0] == 0
    static = tmp_path / "static.pt2"
    save(export(ts.nn.Linear(2, 3), (ts.ones(1, 2),)), static)
    assert output(capsys, "explain-shapes", static)[:2] == (0, "all sizes are static\n")
    static.write_bytes(
        changed(
            static.read_bytes(),
            lambda tree: tree["graph_module"]["graph"]["tensor_values"]["linear"]["sizes"].__setitem__(
                1, {"as_int": 4}
            ),
        )
    )
    code, *message = output(capsys, "check", static)
    assert code == 1 and "linear (aten.linear.default) returns a tensor of shape [1, 3]" in "".join(message)
    (tmp_path / "no.py").write_text("x = 1\n")
    assert output(capsys, "explain-shapes", tmp_path / "no.py")[0] == 2


def test_assertions_that_cannot_hold(program):
    for node in program.graph.nodes:
        if node.name == "cat":
            before = node.meta["val"]
            node.meta["val"] = program.graph.output_node().args[0][0].meta["val"]
            with pytest.raises(ShapeError, match="cat"):
                check_shapes(program)
            node.meta["val"] = before


def test_limits_do_not_fix_sizes():
    """The count of work for `ts.limits` adds no constraints to symbolic sizes."""

    class Products(ts.nn.Module):
        def forward(self, x):
            return ts.cat([x, x]).sum() + (x @ x.T).mean()

    with ts.limits(seconds=60):
        program = export(Products(), (ts.ones(10, 4),), dynamic_shapes=({0: Dim.AUTO},))
    assert str(program.range_constraints) == "{s0: VR[2, int_oo]}"


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("sym_size_int_1", "7*Symbol('s0', positive=True, integer=True)"),
        ("add", "Symbol('s0', positive=True, integer=True)"),
    ],
)
def test_invalid_numbers(name, expression):
    class Counts(ts.nn.Module):
        def forward(self, x):
            n = x.shape[0] + 3
            return x * 1, ts.zeros(n), n

    program = export(Counts(), (ts.ones(5),), dynamic_shapes=({0: Dim.AUTO},))
    file = io.BytesIO()
    save(program, file)

    def change(tree):
        values = tree["graph_module"]["graph"]["sym_int_values"]
        assert name in values
        values[name] = {"as_expr": {"expr_str": expression, "hint": None}}

    with pytest.raises(ArchiveError, match=r"(sym_size_int_1|add) is .*, but the program declares"):
        load(io.BytesIO(changed(file.getvalue(), change)))
