"""Table of the operations on symbolic sizes.

Each line shows an expression and its value:

    BY_NAME["floordiv"].target                 operator.floordiv, which graph nodes call
    BY_NAME["floordiv"].functions              the sympy function of the result and its interval rule
    ARCHIVE_TARGETS["_operator.floordiv"]      operator.floordiv, from its name in archives

All other tables of these operations are derived from this table. To add an operation, add an element to
`OPERATIONS`. If sympy lacks its function, also add a class to `sympy_functions`. This module does not import
sympy, because programs without symbols do not need it.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ts.export import intervals
from ts.export.bounded_pow import MAX_BITS, power
from ts.python_api import sym_functions

MAX_ARGUMENTS: Final = 1 << 5  # maximum number of arguments of a function in an expression of an archive


class Kind(enum.Enum):
    """Type of the arguments that a sympy function accepts."""

    BOOLEANS = "booleans"
    INTEGERS = "integers"
    FLOATS = "floats"  # one argument or more are floats, the others are converted
    NUMBERS = "numbers"


class SymbolicFunction(NamedTuple):
    """Sympy function in expressions of sizes: class name, argument types, evaluation, and names in texts."""

    name: str
    kind: Kind = Kind.NUMBERS
    max_count: int = 2  # maximum number of arguments
    bounds: Callable[..., intervals.ValueRange] | None = None  # interval rule
    # function that computes the result from Python numbers, or None to use `compute` of the operation
    compute: Callable[..., Any] | None = None
    # Names of the function in archives. The writer uses the first name. None means that the only name is
    # `name`.
    archive_names: tuple[str, ...] | None = None
    sign: str = ""  # operator symbol in Python conditions, or "" for the operation's `sign`

    @property
    def min_count(self) -> int:
        """Minimum number of arguments."""
        return self.max_count if self.max_count <= 2 else 1

    @property
    def names_in_archives(self) -> tuple[str, ...]:
        """Names of the function in expressions of archives. The writer uses the first name."""
        return (self.name,) if self.archive_names is None else self.archive_names


class SizeOperation(NamedTuple):
    """Operation on numbers that programs call, such as `a // b`, and its computation on symbols.

    If `rule` is set, the result on symbols is `rule(e, *operands)`, where `e` is the module
    `sympy_functions`. Otherwise, it is a call of the first function in `functions` that accepts the types of
    the operands.
    """

    name: str  # name by which `SymNode.operate` looks the operation up
    # function that the graph's nodes call, or None if graphs cannot contain the operation
    target: Callable[..., Any] | None
    compute: Callable[..., Any] | None  # function that computes the result from Python numbers
    functions: tuple[SymbolicFunction, ...] = ()
    script: str = ""  # operator of the script IR
    # function (`e`, operands) -> sympy expression. It is set if the result is composed of several functions.
    rule: Callable[..., Any] | None = None
    sign: str = ""  # operator in Python conditions, or "" if conditions call `call_name`
    more_call_names: tuple[str, ...] = ()  # further names that conditions may use to call this function
    is_relation: bool = False
    depends_on_signs: bool = False  # True if sympy uses the signs of symbols to simplify the result
    in_shape_rules: bool = False  # True if operators use the operation to compute the sizes of their results
    # True for products: if the operands have n and m terms, the expanded result has up to n * m terms.
    multiplies_terms: bool = False

    @property
    def archive_name(self) -> str:
        """Name of the target in archives, such as `_operator.add` or `torch.sym_max`."""
        assert self.target is not None
        module = self.target.__module__
        return f"{'torch' if module == sym_functions.__name__ else module}.{self.target.__name__}"

    @property
    def call_name(self) -> str:
        """Name by which Python conditions call the operation, such as `max` or `math.floor`."""
        assert self.compute is not None
        module = self.compute.__module__
        return self.compute.__name__ if module == "builtins" else f"{module}.{self.compute.__name__}"

    @property
    def call_names(self) -> tuple[str, ...]:
        """All names by which Python conditions may call the operation."""
        return self.call_name, *([self.archive_name] if self.target else []), *self.more_call_names


def _shift_left(a: Any, b: Any) -> Any:
    if isinstance(a, int) and not 0 <= b <= MAX_BITS - a.bit_length():
        raise OverflowError("a number is too large")
    return a << b


def _sum(*terms: Any) -> Any:
    return sum(terms)


def _product(*factors: Any) -> Any:
    return math.prod(factors)


def _all(*truths: Any) -> bool:
    return all(truths)


def _any(*truths: Any) -> bool:
    return any(truths)


def _is_odd(*truths: Any) -> bool:
    return sum(map(bool, truths)) % 2 == 1


def _choose(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _composed(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rule that converts operands to numbers and applies `compute` to them.

    If an operand is a float, all operands are converted to floats.
    """

    def rule(e: Any, *operands: Any) -> Any:
        is_float = any(x.is_float for x in operands)
        return compute(*(x.as_float if is_float else x.as_number for x in operands))

    return rule


def _multiply(e: Any, a: Any, b: Any) -> Any:
    product = _composed(operator.mul)(e, a, b)
    return e.sympy.expand_mul(product, deep=False) if product.is_integer else product


def _floor_divide(e: Any, a: Any, b: Any) -> Any:
    if a.is_float or b.is_float:
        return e.ToFloat(e.FloorToInt(e.FloatTrueDiv(a.as_float, b.as_float)))
    return e.FloorDiv(a.expression, b.expression)


def _raise_to_power(e: Any, a: Any, b: Any) -> Any:
    if a.is_float or b.is_float or b.expression.is_negative:
        return e.CLASSES["FloatPow"](a.as_float, b.as_float)
    if b.expression.is_Integer:
        return a.expression**b.expression
    return e.PowByNatural(a.expression, b.expression)


def _is_different(e: Any, a: Any, b: Any) -> Any:
    if e.is_truth(a.expression) and e.is_truth(b.expression):
        return e.sympy.Xor(a.expression, b.expression)
    return _composed(e.sympy.Ne)(e, a, b)


def _is_equal(e: Any, a: Any, b: Any) -> Any:
    if e.is_truth(a.expression) and e.is_truth(b.expression):
        return e.sympy.Not(e.sympy.Xor(a.expression, b.expression))
    return _composed(e.sympy.Eq)(e, a, b)


def _choose_expression(e: Any, condition: Any, a: Any, b: Any) -> Any:
    return e.sympy.Piecewise((a.expression, condition.expression), (b.expression, True))


def _is_integer(e: Any, a: Any) -> Any:
    return e.sympy.Eq(e.FloorToInt(a.expression), a.expression) if a.is_float else e.sympy.true


# ---- functions that define elements of `OPERATIONS`


def _arithmetic(name: str, *functions: SymbolicFunction, **facts: Any) -> SizeOperation:
    """Return the operation of the function `name` in the module `operator`."""
    target = getattr(operator, name)
    return SizeOperation(name.rstrip("_"), target, facts.pop("compute", target), functions, **facts)


def _relation(name: str, sign: str, function: str, *archive_names: str, **facts: Any) -> SizeOperation:
    relation = SymbolicFunction(function, archive_names=(function, *archive_names))
    facts |= {"script": f"aten::{name}", "sign": sign, "is_relation": True, "depends_on_signs": True}
    return _arithmetic(name, relation, **facts)


def _bitwise(name: str, sign: str, truths: str, combine: Callable[..., bool], **facts: Any) -> SizeOperation:
    bits = SymbolicFunction(f"BitwiseFn_bitwise_{name.rstrip('_')}", Kind.INTEGERS)
    word = name.rstrip("_") if truths != "Xor" else ""
    logical = SymbolicFunction(truths, Kind.BOOLEANS, MAX_ARGUMENTS, compute=combine, sign=word)
    return _arithmetic(name, logical, bits, sign=sign, **facts)


def _rounding(
    name: str, target: Callable[..., Any], compute: Callable[..., Any], function: str, **facts: Any
) -> SizeOperation:
    rounded = SymbolicFunction(function, Kind.FLOATS, 1, intervals.monotonic(compute))

    def rule(e: Any, a: Any) -> Any:
        return e.CLASSES[function](a.expression) if a.is_float else a.expression

    return SizeOperation(name, target, compute, (rounded,), rule=rule, depends_on_signs=True, **facts)


def _extreme(
    target: Callable[..., Any], compute: Callable[..., Any], function: str, bounds: Callable[..., Any]
) -> SizeOperation:
    """Define the operation `target`, the minimum or maximum."""
    functions = (SymbolicFunction(function, Kind.NUMBERS, MAX_ARGUMENTS, bounds),)
    script = f"prim::{compute.__name__}"
    return SizeOperation(
        target.__name__, target, compute, functions, script, depends_on_signs=True, in_shape_rules=True
    )


def _real(name: str, bounds: Callable[..., Any] | None = None, **facts: Any) -> SizeOperation:
    functions = (SymbolicFunction(f"OpaqueUnaryFn_{name}", Kind.FLOATS, 1, bounds),)
    target = getattr(sym_functions, f"sym_{name}", None)
    return SizeOperation(f"sym_{name}", target, getattr(math, name), functions, **facts)


# All operations. If several operations have the same sympy function, graphs compute this function by the
# first operation.
OPERATIONS: Final[tuple[SizeOperation, ...]] = (
    _arithmetic(
        "add",
        SymbolicFunction("Add", Kind.NUMBERS, MAX_ARGUMENTS, intervals.add, _sum),
        script="aten::add", sign="+",
    ),
    _arithmetic("sub", script="aten::sub", sign="-", rule=_composed(operator.sub)),
    _arithmetic(
        "mul",
        SymbolicFunction("Mul", Kind.NUMBERS, MAX_ARGUMENTS, intervals.multiply, _product),
        script="aten::mul", sign="*", rule=_multiply, multiplies_terms=True,
    ),
    _arithmetic(
        "truediv",
        SymbolicFunction("IntTrueDiv", Kind.INTEGERS, 2, intervals.divide),
        SymbolicFunction("FloatTrueDiv", Kind.FLOATS, 2, intervals.divide),
        script="aten::div", sign="/", depends_on_signs=True, multiplies_terms=True,
    ),
    _arithmetic(
        "floordiv",
        SymbolicFunction(
            "FloorDiv", Kind.INTEGERS, 2, intervals.floor_divide, archive_names=("FloorDiv", "CleanDiv")
        ),
        script="aten::floordiv", sign="//", rule=_floor_divide,
        depends_on_signs=True, in_shape_rules=True, multiplies_terms=True,
    ),
    _arithmetic(
        "mod",
        SymbolicFunction("Mod", Kind.INTEGERS, 2, intervals.remainder, archive_names=("PythonMod", "Mod")),
        SymbolicFunction("FloatMod", Kind.FLOATS, 2, archive_names=("PythonMod",)),
        script="aten::remainder", sign="%", depends_on_signs=True, in_shape_rules=True, multiplies_terms=True,
    ),
    _arithmetic(
        "pow",
        SymbolicFunction("Pow", Kind.NUMBERS, 2, intervals.power),
        SymbolicFunction("PowByNatural", Kind.INTEGERS, 2, intervals.power),
        SymbolicFunction("FloatPow", Kind.FLOATS),
        compute=power, script="aten::pow", sign="**", rule=_raise_to_power, depends_on_signs=True,
    ),
    _arithmetic("lshift", compute=_shift_left, sign="<<", rule=lambda e, a, b: a.as_number * 2**b.as_number),
    _arithmetic("rshift", sign=">>", rule=lambda e, a, b: e.FloorDiv(a.as_number, 2**b.as_number)),
    _arithmetic("neg", script="aten::neg", sign="neg", rule=_composed(operator.neg)),
    _arithmetic("pos"),
    SizeOperation(
        "abs", operator.abs, abs, (SymbolicFunction("Abs", Kind.NUMBERS, 1, intervals.absolute),),
        depends_on_signs=True,
    ),
    _relation("lt", "<", "StrictLessThan"),
    _relation("le", "<=", "LessThan"),
    _relation("gt", ">", "StrictGreaterThan"),
    _relation("ge", ">=", "GreaterThan"),
    _relation("eq", "==", "Equality", "Eq", rule=_is_equal),
    _relation("ne", "!=", "Unequality", "Ne", rule=_is_different),
    _bitwise("and_", "&", "And", _all, script="aten::__and__"),
    _bitwise("or_", "|", "Or", _any, script="aten::__or__"),
    _bitwise("xor", "^", "Xor", _is_odd),
    _arithmetic("not_"),
    SizeOperation(
        "sym_not", sym_functions.sym_not, operator.not_, (SymbolicFunction("Not", Kind.BOOLEANS, 1),),
        "aten::__not__", sign="not",
    ),
    SizeOperation(
        "sym_ite", sym_functions.sym_ite, _choose,
        (SymbolicFunction("ITE", archive_names=()), SymbolicFunction("Piecewise", archive_names=())),
        rule=_choose_expression,
    ),
    SizeOperation(
        "sym_sum", sym_functions.sym_sum, None, rule=lambda e, *terms: _composed(e.sympy.Add)(e, *terms)
    ),
    SizeOperation(
        "sym_float", sym_functions.sym_float, float,
        (SymbolicFunction("ToFloat", Kind.NUMBERS, 1, intervals.monotonic(lambda x: x)),), "aten::Float",
        rule=lambda e, a: a.as_float,
    ),
    _rounding("trunc", math.trunc, math.trunc, "TruncToInt"),
    _rounding("floor", math.floor, math.floor, "FloorToInt", script="aten::floor"),
    _rounding("ceil", math.ceil, math.ceil, "CeilToInt", script="aten::ceil"),
    _rounding("round", round, round, "RoundToInt"),
    _rounding(
        "sym_int", sym_functions.sym_int, math.trunc, "TruncToInt", script="aten::Int",
        more_call_names=("int",),
    ),
    SizeOperation("is_integer", None, None, rule=_is_integer),
    _extreme(sym_functions.sym_max, max, "Max", intervals.maximum),
    _extreme(sym_functions.sym_min, min, "Min", intervals.minimum),
    _real("sqrt", intervals.square_root, script="aten::sqrt", more_call_names=("torch._sym_sqrt",)),
    _real("exp", intervals.exponential),
    *map(_real, ("cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos", "atan", "log", "log2")),
)  # fmt: skip

BY_NAME: Final = {op.name: op for op in OPERATIONS}
BY_SIGN: Final = {
    sign: op for op in OPERATIONS for sign in (op.sign, *(f.sign for f in op.functions)) if sign
}
TARGETS: Final[dict[str, Any]] = {op.name: op.target for op in OPERATIONS}
RELATIONS: Final = {op.name: op for op in OPERATIONS if op.is_relation}

# Name in archives -> function that nodes may call. `getitem` selects one of several results of an operator.
ARCHIVE_TARGETS: Final[dict[str, Callable[..., Any]]] = {
    **{op.archive_name: op.target for op in OPERATIONS if op.target is not None},
    "_operator.getitem": operator.getitem,
}
# Function name in the expressions of archives -> functions with this name, one for each kind of arguments.
ARCHIVE_FUNCTIONS: Final[dict[str, list[SymbolicFunction]]] = {
    name: [f for op in OPERATIONS for f in op.functions if name in f.names_in_archives]
    for name in (name for op in OPERATIONS for f in op.functions for name in f.names_in_archives)
}
SCRIPT_OPERATORS: Final[dict[Any, str]] = {op.target: op.script for op in OPERATIONS if op.script}
