"""Check of the shapes that a program records. They must be right for all values in the symbols' ranges.

`check_shapes(program)` raises ShapeError for a wrong shape, and returns undetermined conditions.

The check computes the shape of each result again from the metadata of the arguments. Symbolic sizes are
compared as expressions. If this comparison is undecided, sample values that satisfy the guards are compared.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import ts
from ts._core.tensor.sym_types import SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.thread import deadline
from ts.errors import LimitExceeded, TsError
from ts.export import sympy_functions as e
from ts.export.decision_policy import DecisionPolicy, UndecidableError
from ts.export.fake import device_of, fake_array, fake_for, is_fake
from ts.export.intervals import ValueRange
from ts.export.node_arguments import values_of
from ts.export.program import ExportedProgram
from ts.export.shape_env import ShapeEnv
from ts.export.signature import InputKind
from ts.export.size_operations import RELATIONS
from ts.export.sym_node import symbol_of
from ts.export.sympy_import import sympy
from ts.export.tracer import ExportTracer
from ts.export.value_ranges import value_range
from ts.fx.node import Node
from ts.ops.namespace import OpOverload
from ts.utils import _pytree as pytree

# number of samples for which sizes are compared. A sample consists of values for all symbols.
_POINTS: Final = 24
_MAX_TERMS: Final = 1 << 10  # maximum number of terms of an expanded product
# In a sample, a size exceeds its lower bound by at most this number.
_SAMPLE_RANGE_SIZE: Final = 40


class ShapeError(TsError):
    """Raised if the shape of an operator's result differs from the shape that the program records."""


class Question(NamedTuple):
    """Condition of an operator call that the ranges of the symbols do not decide."""

    condition: Any
    node: Node


class _QuestionPolicy(DecisionPolicy):
    """Policy that records each condition that the ranges do not decide.

    Such a condition is decided by the example sizes.
    """

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.node: Node | None = None

    def decide(self, environment: ShapeEnv, condition: Any) -> bool:
        return self.guess(environment, condition)

    def guess(self, environment: ShapeEnv, condition: Any) -> bool:
        try:
            holds = super().guess(environment, condition)
        except (ArithmeticError, ValueError):
            # The condition has no value for the example sizes, because it divides by zero, for example.
            raise UndecidableError(str(condition)) from None
        # `node` is set while an operator runs, which evaluates the condition.
        assert self.node is not None
        question = Question(condition if holds else sympy.Not(condition), self.node)
        if question not in self.questions:
            self.questions.append(question)
        return holds

    def specialize(self, environment: ShapeEnv, expression: Any) -> Any:
        try:
            return environment.hint(expression)
        except (ArithmeticError, KeyError, ValueError):
            raise UndecidableError(str(expression)) from None

    def require(self, environment: ShapeEnv, condition: Any, message: str) -> None:
        """Ignore `condition`.

        A call that violates the condition raises an error, so it has no shapes to check.
        """


class _CheckedEnvironment(ShapeEnv):
    """Shape environment with the facts of a program. It compares polynomials faster than sympy."""

    def __init__(self, environment: ShapeEnv, policy: _QuestionPolicy) -> None:
        super().__init__(policy)
        self.hints, self.ranges = dict(environment.hints), dict(environment.ranges)
        self.expression_cache = {}
        self._fresh = 0
        self._answers: dict[Any, bool | None] = {}
        self._expanded: dict[Any, Any] = {}

    def evaluate_static(self, condition: Any) -> bool | None:
        if condition not in self._answers:
            self._answers[condition] = super().evaluate_static(condition)
        return self._answers[condition]

    def is_provably_equal(self, x: Any, y: Any) -> bool:
        result = self._equal.get((x, y))
        if result is None:
            result = self.related("eq", x, y)
            result = self._equal[x, y] = super().is_provably_equal(x, y) if result is None else bool(result)
        return result

    def result(self, name: str, operands: list[Any]) -> Any:
        if math.prod(map(e.terms, operands)) > _MAX_TERMS:
            raise ShapeError("a size is too large to be compared")
        return self.related(name, *operands) if name in RELATIONS else None

    def related(self, name: str, a: Any, b: Any) -> Any:
        """Return sympy's true or false if the relation `name` of `a` and `b` is decided, else None.

        If `a` and `b` are polynomials, the ranges of the symbols decide the relation, faster than sympy
        would.
        """
        difference = self._difference(a, b)
        if difference is None:
            return None
        low, high = value_range(difference, self.ranges)
        if name in ("ge", "lt"):
            holds = True if low >= 0 else False if high < 0 else None
        elif name in ("gt", "le"):
            holds = True if low > 0 else False if high <= 0 else None
        else:
            holds = True if low == high == 0 else None if low <= 0 <= high else False
        if holds is None:
            return None
        return sympy.true if holds is (name in ("ge", "gt", "eq")) else sympy.false

    def _difference(self, a: Any, b: Any) -> Any:
        """Return a - b if both are polynomials, otherwise None."""
        a, b = self._terms(a), self._terms(b)
        if a is None or b is None:
            return None
        return _ZERO if a == b else a - b

    def _terms(self, x: Any) -> Any:
        """Return the terms of `x` after expansion if `x` is a polynomial, else None."""
        if x not in self._expanded:
            self._expanded[x] = sympy.expand(x) if _is_polynomial(x) else None
        return self._expanded[x]

    def unbacked(self, is_size: bool = False, max_size: Any = math.inf) -> Any:
        self._fresh += 1  # programs have no symbols zz1, zz2, ...
        symbol = sympy.Symbol(f"zz{self._fresh}", integer=True, nonnegative=is_size or None)
        self.ranges[symbol] = ValueRange(0) if is_size else ValueRange()
        return symbol

    def unbacked_float(self) -> Any:
        self._fresh += 1
        symbol = sympy.Symbol(f"zz{self._fresh}", real=True)
        self.ranges[symbol] = ValueRange()
        return symbol


def check_shapes(program: ExportedProgram) -> list[Question]:
    """Check all shapes of a program, and return the conditions that the symbols' ranges do not decide.

    Raise ShapeError if the shape of an operator's result differs from the recorded shape.
    """
    return _Check(program).run()


class _Check:
    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        self.policy = _QuestionPolicy()
        self.environment = _CheckedEnvironment(program.environment, self.policy)
        self.recorder = ExportTracer(self.environment)
        self.recorded_values: dict[Node, Any] = {}
        self.described: dict[Node, Any] = {}
        # `_key` of a checked call -> its undecided conditions
        self.conditions_by_call: dict[Any, list[Any]] = {}
        self._sample_points: list[dict[Any, int]] | None = None

    def run(self) -> list[Question]:
        for module in self.program.graph_module.modules():
            graph = getattr(module, "graph", None)
            for node in graph.nodes if graph is not None else ():
                if node.op != "call_function":
                    continue
                if isinstance(node.meta.get("val"), SymNumber):
                    self._check_symbol_node(node)
                elif isinstance(node.target, OpOverload):
                    self._check_operator_node(node, node.target)
        return self.policy.questions

    def _check_symbol_node(self, node: Node) -> None:
        """Raise ShapeError if `node` computes another number than the number that it records.

        Data-dependent numbers are not checked.
        """
        self.policy.node, self.environment.quiet = node, True
        recorded_value = self._value(node)
        try:
            args = [values_of(x, self._value) for x in node.args]
            compute: Any = _SIZES.get(str(node.target), _of_data) if _is_operator(node) else node.target
            computed_value = compute(*args)
        except (LimitExceeded, ShapeError):
            raise
        except IndexError as error:
            raise ShapeError(
                f"{node.name} reads a dimension that its tensor does not have: {error}"
            ) from None
        except (
            TsError,
            UndecidableError,
            ArithmeticError,
            NotImplementedError,
            KeyError,
            TypeError,
            ValueError,
        ):
            return
        except AttributeError as error:  # the operand has no sizes, for example
            raise ShapeError(f"{node.name} cannot be computed from the recorded metadata: {error}") from None
        if isinstance(recorded_value, SymInt) and isinstance(computed_value, int | SymInt):
            where = self._difference(_expression(computed_value), _expression(recorded_value), {})
            if where is not None:
                raise ShapeError(
                    f"{node.name} is {computed_value}, but the program declares {recorded_value}{where}"
                )

    # ---- check of one operator

    def _check_operator_node(self, node: Node, target: OpOverload) -> None:
        environment, questions = self.environment, self.policy.questions
        key = None if target._schema.is_mutable else self._key(node)
        if key in self.conditions_by_call:
            questions += (Question(condition, node) for condition in self.conditions_by_call[key])
            return
        self.policy.node, environment.quiet = node, True
        previous_count = len(questions)
        self._evaluate_operator(node, target, previous_count)
        if key is not None:
            self.conditions_by_call[key] = [question.condition for question in questions[previous_count:]]

    def _evaluate_operator(self, node: Node, target: OpOverload, previous_count: int) -> None:
        try:
            args, kwargs = (values_of(x, self._value) for x in (node.args, node.kwargs))
            with self.recorder.paused(), ts.no_grad():
                op, values, _ = target.resolve(args, kwargs)
                computed_value = self.recorder.run_on_fakes(op, values)
        except (LimitExceeded, ShapeError):
            raise
        # The call cannot be checked. Its result depends on tensor elements, for example.
        except (TsError, UndecidableError, NotImplementedError, KeyError):
            return
        except Exception as error:  # an operator with invalid arguments may raise any exception
            if len(self.policy.questions) > previous_count:
                return
            raise ShapeError(f"{node.name} ({target}) cannot run on the recorded metadata: {error}") from None
        self._compare(node, computed_value, node.meta.get("val"), {})

    def _key(self, node: Node) -> Any:
        """Return a key that is equal for calls with equal targets and equal metadata.

        Return None if the key is not hashable.
        """
        args, kwargs = (values_of(x, self._description) for x in (node.args, node.kwargs))
        key = (node.target, _frozen(args), _frozen(kwargs), self._description(node))
        try:
            hash(key)
        except TypeError:
            return None
        return key

    def _description(self, x: Node) -> Any:
        """Return the metadata of the value of a node in hashable form."""
        if x not in self.described:
            self.described[x] = _frozen(x.meta.get("val"))
        return self.described[x]

    def _value(self, x: Node) -> Any:
        """Return the recorded value of a node, with symbols of `self.environment`."""
        if x not in self.recorded_values:
            self.recorded_values[x] = pytree.tree_map(self._with_own_symbols, x.meta.get("val"))
        return self.recorded_values[x]

    def _with_own_symbols(self, value: Any) -> Any:
        if isinstance(value, SymNumber):
            return symbol_of(value.node.expr, self.environment)
        if not is_fake(value):
            return value
        array = value.array
        shape = [self._with_own_symbols(n) for n in array.shape]
        strides = [self._with_own_symbols(_simplify_stride(s // array.itemsize)) for s in array.strides]
        return fake_for(fake_array(shape, array.dtype, strides), device_of(value))

    # ---- comparison of shapes

    def _compare(self, node: Node, computed_value: Any, recorded_value: Any, fresh: dict[Any, Any]) -> None:
        if isinstance(computed_value, Tensor) and isinstance(recorded_value, Tensor):
            if computed_value.dtype is not recorded_value.dtype:
                raise ShapeError(
                    f"{node.name} returns {computed_value.dtype}, but the program declares "
                    f"{recorded_value.dtype}"
                )
            shapes = list(computed_value.array.shape), list(recorded_value.array.shape)
            if len(shapes[0]) != len(shapes[1]):
                raise self._differs(node, shapes, "")
            for mine, theirs in zip(*shapes, strict=True):
                where = self._difference(_expression(mine), _expression(theirs), fresh)
                if where is not None:
                    raise self._differs(node, shapes, where)
        elif isinstance(computed_value, list | tuple) and isinstance(recorded_value, list | tuple):
            for mine, theirs in zip(computed_value, recorded_value, strict=False):
                self._compare(node, mine, theirs, fresh)

    def _differs(self, node: Node, shapes: tuple[list[Any], list[Any]], where: str) -> ShapeError:
        mine, theirs = (", ".join(map(str, shape)) for shape in shapes)
        return ShapeError(
            f"{node.name} ({node.target}) returns a tensor of shape [{mine}], but the program declares "
            f"[{theirs}]{where}"
        )

    def _difference(self, mine: Any, theirs: Any, fresh: dict[Any, Any]) -> str | None:
        """Return None if no values of the symbols are found for which two sizes differ.

        Otherwise, return a text with these values: ` for s0 = 3`.
        """
        new = [s for s in mine.free_symbols if str(s).startswith("zz")]
        # A symbol that this check has created stands for an unbacked symbol of the program.
        if new:
            if mine.is_Symbol and mine not in fresh:
                fresh[mine] = theirs
            return None
        if mine == theirs or self.environment.evaluate_static(sympy.Eq(mine, theirs)) is True:
            return None
        symbols = mine.free_symbols | theirs.free_symbols
        if not symbols:
            return ""
        for numbers in self.sample_points():
            if not symbols <= numbers.keys():
                return None
            try:
                same = e.value(mine, numbers) == e.value(theirs, numbers)
            except (ArithmeticError, ValueError):
                continue
            if not same:
                return " for " + ", ".join(f"{s} = {numbers[s]}" for s in sorted(symbols, key=str))
        return None

    def sample_points(self) -> list[dict[Any, int]]:
        """Return sample values of the symbols that satisfy the guards."""
        if self._sample_points is None:
            self._sample_points = list(self._allowed())
        return self._sample_points

    def _allowed(self) -> Iterator[dict[Any, int]]:
        draw = random.Random(0)
        ranges = {
            s: r for s, r in self.environment.ranges.items() if s.is_integer and not str(s).startswith("zz")
        }
        left = _POINTS
        for _ in range(_POINTS * 20):
            deadline.charge(10_000 * (1 + len(self.program._guards)))
            numbers = {}
            for symbol, (low, high) in ranges.items():
                lower = 0 if math.isinf(low) else int(low)
                limit = lower + _SAMPLE_RANGE_SIZE
                upper = limit if math.isinf(high) else min(int(high), limit)
                numbers[symbol] = draw.randint(lower, max(lower, upper))
            if left and self._allows(numbers):
                left -= 1
                yield numbers

    def _allows(self, numbers: dict[Any, int]) -> bool:
        try:
            leaves = [self._argument(node, numbers) for node in self._arguments()]
            for guard in self.program._guards:
                guard(leaves)
        except (ArithmeticError, AssertionError, KeyError, RuntimeError, ValueError):
            return False
        return True

    def _arguments(self) -> Iterator[Node]:
        nodes = [n for n in self.program.graph.nodes if n.op == "placeholder"]
        for node, spec in zip(nodes, self.program.graph_signature.input_specs, strict=True):
            if spec.kind is InputKind.USER_INPUT:
                yield node

    def _argument(self, node: Node, numbers: dict[Any, int]) -> Any:
        value = node.meta.get("val")
        if isinstance(value, SymNumber):
            return e.value(value.node.expr, numbers)
        if not isinstance(value, Tensor):
            return value
        sizes = [e.value(_expression(n), numbers) for n in value.array.shape]
        return ts.empty(sizes, dtype=value.dtype, device="meta")


def _frozen(value: Any) -> Any:
    """Convert recorded values and arguments to hashable values.

    Equal metadata gives equal hashable values.
    """
    if isinstance(value, SymNumber):
        return type(value), value.node.expr
    if is_fake(value):
        array = value.array
        strides = (s // array.itemsize for s in array.strides)
        sizes = tuple(map(_frozen, (*array.shape, *strides)))
        return Tensor, sizes, array.dtype, device_of(value)
    if isinstance(value, list | tuple):
        return type(value), *map(_frozen, value)
    if isinstance(value, dict):
        return dict, *((_frozen(k), _frozen(v)) for k, v in value.items())
    # Use the `repr` of floats, which differs for -0.0 and 0.0, and is equal for two nans.
    return type(value), repr(value) if isinstance(value, float) else value


_ZERO: Final = sympy.Integer(0)


def _is_polynomial(x: Any) -> bool:
    if x.is_Symbol or x.is_Integer:
        return True
    if x.is_Pow:
        return bool(_is_polynomial(x.base) and x.exp.is_Integer and x.exp > 0)
    return bool(x.is_Add or x.is_Mul) and all(map(_is_polynomial, x.args))


def _expression(size: Any) -> Any:
    return size.node.expr if isinstance(size, SymNumber) else sympy.Integer(size)


def _is_operator(node: Node) -> bool:
    return isinstance(node.target, OpOverload)


def _of_data(*args: Any) -> None:
    """Return None, because a number that depends on tensor elements cannot be checked."""


_SIZES: Final[dict[str, Callable[..., Any]]] = {
    "aten.sym_size.int": lambda x, dim: x.array.shape[dim],
    "aten.sym_numel.default": lambda x: x.array.size,
}


def _simplify_stride(n: Any) -> Any:
    """Replace `Max(1, size)` by `size` in a stride. PyTorch uses `Max` for tensors that may be empty."""
    if not isinstance(n, SymNumber):
        return n
    expression = n.node.expr.replace(
        lambda x: isinstance(x, sympy.Max) and sympy.Integer(1) in x.args,
        lambda x: sympy.Max(*(y for y in x.args if y != 1)),
    )
    return symbol_of(expression, n.node.environment)
