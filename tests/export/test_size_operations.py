"""The table of size operations is consistent: all forms of an operation compute equal numbers."""

import itertools

import pytest
import sympy

import ts
from tests.export.functions import FunctionOfOne
from ts.export import size_operations
from ts.export import sympy_functions as e
from ts.export.dim import Dim
from ts.export.expr_parser import Source
from ts.export.guards import format_condition, to_formula
from ts.export.input_guards import compile_formula
from ts.export.intervals import ValueRange
from ts.export import expr_parser
from ts.export.pt2_format import argument_conditions, symbols
from ts.export.shape_env import ShapeEnv
from ts.export.size_operations import Kind
from ts.export.sym_node import symbol_of
from ts.export.value_ranges import value_range
from ts.utils import _pytree as pytree

OPERATIONS = [op for op in size_operations.OPERATIONS if op.functions and op.compute is not None]
FUNCTIONS = [pytest.param(op, f, id=f.name) for op in OPERATIONS for f in op.functions]
NUMBERS = ((7, 3), (12, 4), (5, 9))
A, B = sympy.symbols("a b", integer=True, positive=True)


def arguments(function):
    """Return symbolic arguments of the kind that a function accepts."""
    count = min(function.max_count, 2)
    if function.kind is Kind.BOOLEANS:
        return [sympy.Gt(x, 4) for x in (A, B)[:count]]
    return [e.ToFloat(x) / 16 if function.kind is Kind.FLOATS else x for x in (A, B)[:count]]


def written(function):
    """Yield expressions with a function, the values of its symbols, and the value of the expression."""
    if function.name in ("ITE", "Piecewise"):
        pytest.skip("a choice has a condition and operands of another kind")
    expression = e.CLASSES[function.name](*arguments(function))
    for numbers in NUMBERS:
        try:
            yield (
                expression,
                dict(zip((A, B), numbers, strict=True)),
                e.value(expression, {A: numbers[0], B: numbers[1]}),
            )
        except (ArithmeticError, ValueError):  # the function is undefined for these numbers
            continue


@pytest.mark.parametrize("operation, function", FUNCTIONS)
def test_range_contains_the_value(operation, function):
    for expression, numbers, value in written(function):
        low, high = value_range(expression, {s: ValueRange(1, n) for s, n in numbers.items()})
        assert low <= value <= high


@pytest.mark.parametrize("operation, function", FUNCTIONS)
def test_printed_condition_has_the_value(operation, function):
    """A condition that is printed as Python and parsed again has the same value."""
    spec = pytree.tree_structure(((1, 2), {}))
    conditions = argument_conditions.Conditions(symbols.Symbols({}), {}, spec, ["a", "b"])
    sources = {A: Source("a", None), B: Source("b", None, leaf=1)}
    for expression, numbers, value in written(function):
        text = format_condition(expression, lambda s: f"L['{s}']")
        read = conditions._located(expr_parser.parse(text), text)
        leaves = [numbers[A], numbers[B]]
        assert compile_formula(read)(leaves) == value, text
        assert compile_formula(to_formula(expression, sources))(leaves) == value, text


@pytest.mark.parametrize("operation, function", FUNCTIONS)
def test_written_expression_is_read(operation, function):
    reader = symbols.Symbols({})
    for expression, numbers, value in written(function):
        text = symbols.format_expression(expression)
        read = reader.expression(symbols.Expression(text))
        values = {s: numbers[sympy.Symbol(s.name, integer=True, positive=True)] for s in read.free_symbols}
        assert e.value(read, values) == value, text


@pytest.mark.parametrize("operation", [pytest.param(op, id=op.name) for op in OPERATIONS])
@pytest.mark.parametrize("as_float", (False, True))
def test_symbolic_result_has_the_value(operation, as_float):
    if operation.name in ("sym_ite", "sym_not"):
        pytest.skip("a condition is an operand")
    environment = ShapeEnv()
    count = min(max(f.max_count for f in operation.functions), 2)
    for numbers in NUMBERS:
        expressions = [environment.size(Source("x", i), n) for i, n in enumerate(numbers[:count])]
        operands = [e.ToFloat(x) if as_float else x for x in expressions]
        if as_float and all(f.kind is not Kind.FLOATS for f in operation.functions):
            continue
        values = [float(n) if as_float else n for n in numbers[:count]]
        try:
            expected = operation.compute(*values)
        except (ArithmeticError, ValueError):
            continue
        result = symbol_of(operands[0], environment).node.operate(
            operation.name, *(symbol_of(x, environment) for x in operands)
        )
        assert result == expected if isinstance(result, int | float) else result.node.hint == expected


def test_names_are_unique():
    for attribute in ("name", "archive_name", "script"):
        names = [getattr(op, attribute) for op in size_operations.OPERATIONS if op.target is not None]
        names = [name for name in names if name]
        assert len(names) == len(set(names)), attribute
    assert all(
        size_operations.ARCHIVE_TARGETS[op.archive_name] is op.target for op in OPERATIONS if op.target
    )


def test_bitwise_conditions_are_saved(tmp_path):
    class Model(ts.nn.Module):
        def forward(self, x):
            return x + 1 if (x.shape[0] & 1) == 0 else x - 1

    program = ts.export.export(Model(), (ts.ones(4),), dynamic_shapes={"x": {0: Dim.AUTO}})
    ts.export.save(program, tmp_path / "model.pt2")
    loaded = ts.export.load(tmp_path / "model.pt2").module()
    assert loaded(ts.ones(6)).sum() == 12
    with pytest.raises(AssertionError, match=r"x.size\(\)\[0\] & 1"):
        loaded(ts.ones(5))


def test_products_and_sums_accept_many_terms():
    s = sympy.symbols("s0:6", integer=True, positive=True)
    numbers = dict(zip(s, itertools.count(1), strict=False))
    assert e.value(sympy.Add(*s), numbers) == 21 and e.value(sympy.Mul(*s), numbers) == 720


@pytest.mark.parametrize(
    ("function", "shape", "dynamic", "sizes"),
    [
        (lambda x: ts.arange(0, x.shape[0], 2), (5,), 0, ["((s0 + 1)//2)"]),
        (lambda x: ts.nn.functional.max_pool1d(x, 2, ceil_mode=True), (1, 2, 9), 2, ["1", "2", "(((s0 - 1)//2)) + 1"]),
        (lambda x: ts.nn.functional.interpolate(x, scale_factor=2.0), (1, 2, 9), 2, ["1", "2", "2*s0"]),
        (
            lambda x: ts.nn.functional.interpolate(x, scale_factor=0.5), (1, 2, 9), 2,
            ["1", "2", "TruncToInt(0.5*ToFloat(s0))"],
        ),
    ],
)  # fmt: skip
def test_size_expressions_of_operators(function, shape, dynamic, sizes):
    """Sizes that operators compute have PyTorch's expressions."""
    program = ts.export.export(
        FunctionOfOne(function), (ts.ones(shape),), dynamic_shapes=({dynamic: ts.export.Dim.AUTO},)
    )
    *_, result, _ = program.graph.nodes
    assert [str(n) for n in result.meta["val"].shape] == sizes


def test_names_of_nodes():
    """Names of operators with capitals are converted to snake case."""
    program = ts.export.export(FunctionOfOne(lambda x: (x.mT, x.T, x.mH, x.H)), (ts.ones(2, 3),))
    names = [n.name for n in program.graph.nodes if n.op == "call_function"]
    assert names == ["m_t", "numpy_t", "m_h", "matrix_h"]
