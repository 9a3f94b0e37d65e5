"""Guards are data: they can be pickled and compared, and exports and archives evaluate them alike."""

import ast
import inspect
import io
import pickle
from pathlib import Path

import pytest

import ts
from ts.export import input_guards
from ts.export.dim import Dim
from ts.export.expr_parser import Constant, FunctionCall, Name, Operation, Source

ROOT = Path(__file__).resolve().parents[2] / "ts" / "export"


class Program(ts.nn.Module):
    """A program with all kinds of guards: ranges, equal and divisible sizes, conditions, constants."""

    def __init__(self):
        super().__init__()
        self.linear = ts.nn.Linear(3, 2)

    def forward(self, x, y, z, n, flag, scale):
        if x.shape[0] * z.shape[0] < 240 and flag:
            y = y + scale * x.shape[0]
        return self.linear(x) * n, y.view(-1, 3).sum(), z


def exported():
    n = Dim("n", min=4, max=64)
    shapes = {"x": {0: n}, "y": {0: 3 * n}, "z": {0: Dim.AUTO}, "n": Dim.DYNAMIC, "flag": None, "scale": None}
    arguments = (ts.ones(8, 3), ts.ones(24), ts.ones(8), 5, True, 0.5)
    return ts.export.export(Program(), arguments, dynamic_shapes=shapes), arguments


def failures(guards, leaves):
    """Return the texts of the guards that reject the arguments."""
    return {guard.text for guard in guards if not guard.holds(leaves)}


VARIANTS = [
    ((ts.ones(10, 3), ts.ones(30), ts.ones(4), 7, True, 0.5), True),
    ((ts.ones(30, 3), ts.ones(90), ts.ones(12), 7, True, 0.5), False),  # condition of the program
    ((ts.ones(70, 3), ts.ones(210), ts.ones(4), 7, True, 0.5), False),  # range
    ((ts.ones(10, 3), ts.ones(27), ts.ones(4), 7, True, 0.5), False),  # equal sizes
    ((ts.ones(10, 3), ts.ones(30), ts.ones(4), -1, True, 0.5), False),
    ((ts.ones(10, 3), ts.ones(30), ts.ones(4), 7, False, 0.5), False),
    ((ts.ones(10, 3), ts.ones(30), ts.ones(4), 7, True, 0.25), False),
]


@pytest.mark.parametrize("arguments, accepted", VARIANTS)
def test_guards_of_archives_reject_the_same_arguments(arguments, accepted):
    program, _ = exported()
    loaded = pickle.loads(pickle.dumps(program))
    leaves = list(arguments)
    assert (not failures(program._guards, leaves)) is accepted
    assert (not failures(loaded._guards, leaves)) is accepted


def test_guards_are_pickled():
    program, _ = exported()
    guards = pickle.loads(pickle.dumps(program._guards))
    assert guards == program._guards and len({*guards, *program._guards}) == len(set(guards))
    for arguments, _ in VARIANTS:
        assert failures(guards, list(arguments)) == failures(program._guards, list(arguments))


def test_programs_are_pickled():
    program, arguments = exported()
    loaded = pickle.loads(pickle.dumps(program))
    assert str(loaded.graph) == str(program.graph)
    assert loaded.dialect == program.dialect and str(loaded.range_constraints) == str(
        program.range_constraints
    )
    for own, theirs in zip(loaded.module()(*arguments), program.module()(*arguments), strict=True):
        assert ts.equal(own, theirs)
    assert str(pickle.loads(pickle.dumps(program.run_decompositions())).graph) == str(
        program.run_decompositions().graph
    )


def test_source_lines_survive_pickling():
    program, _ = exported()
    lines = {guard.code: guard.where for guard in program._guards if guard.where}
    assert (
        lines and {g.code: g.where for g in pickle.loads(pickle.dumps(program))._guards if g.where} == lines
    )


@pytest.mark.parametrize("value", (None, 3, 0.5, "text", True, float("nan"), float("-inf"), ts.float32))
def test_constants(value):
    guard = input_guards.guard_constant(Source("x", None), value)
    assert guard.holds([value]) and not guard.holds(["other"]) and not guard.holds([ts.ones(2)])


def test_conditions_that_cannot_be_evaluated_fail():
    size = Source("x", 3)
    assert not input_guards.guard_bound(size, ">=", 1).holds([ts.ones(2)])
    division = Operation("//", (Constant(4), Source("x", 0)))
    assert not input_guards.InputGuard(Operation("==", (division, Constant(0))), "").holds([ts.ones(0)])


def test_unknown_functions_are_rejected():
    with pytest.raises(input_guards.UnknownFunctionError):
        input_guards.compile_formula(FunctionCall(Name("print"), (Constant(1),), ()))


def test_one_evaluator():
    """Guards of exports are formulas: no module except `input_guards` defines a guard by a function."""
    assert next(iter(inspect.signature(input_guards.InputGuard).parameters)) == "condition"
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text())
        classes = [n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for b in n.bases
                   if isinstance(b, ast.Name) and b.id == "InputGuard"]  # fmt: skip
        nested = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "holds"]
        assert not classes and (not nested or path.name == "input_guards.py"), path


def test_a_pickled_program_is_an_archive():
    program, _ = exported()
    buffer = io.BytesIO()
    ts.export.save(program, buffer)
    assert buffer.getvalue() in pickle.dumps(program)
