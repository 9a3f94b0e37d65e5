"""Emission of branches (short-circuit evaluation, static if), `assert`, conditional expressions.

Expressions (left) become `prim::If` nodes (right):

    a and b          the true branch computes b, with the type refinements of a
    x if c else y    each branch computes one value. The output has the unified type of x and y

If the value of a condition is known at compile time, only one branch is emitted. For example,
`torch.jit.is_scripting()` is always True in compiled code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ts.errors import CompilationError
from ts.frontend.annotations import is_module_class
from ts.frontend.ir_emitter import statements
from ts.frontend.ir_emitter.emitter import Emitter, expression, statement
from ts.frontend.ir_emitter.operators import BINARY, MAGIC
from ts.frontend.ir_emitter.refinement import (
    Refinement,
    refine_by_both,
    refine_by_either,
    type_test,
    without_none,
)
from ts.frontend.schema_matching import emit_builtin_call
from ts.frontend.scope import Scope
from ts.frontend.source_ranges import JoinedRange
from ts.frontend.sugared_values.classes import call_operator_method
from ts.frontend.sugared_values.python_objects import GLOBALS
from ts.frontend.sugared_values.sugared import AssertionFailure, SpecialForm, SugaredValue
from ts.ir.graph import Block
from ts.ir.source import SourceRange
from ts.ir.types import (
    ANY,
    BOOL,
    NONE,
    ModuleType,
    OptionalType,
    Type,
    UnionType,
    unify,
)
from ts.ir.value import Value


class Condition(NamedTuple):
    """Boolean value with its type refinements, and its static value if known at compile time."""

    value: Value
    if_true: Sequence[Refinement] = ()
    if_false: Sequence[Refinement] = ()
    static: bool | None = None


# ---- conditions ------------------------------------------------------------------------------------


def condition(em: Emitter, node: ast.expr) -> Condition:
    """Emit an expression as a condition: its bool value, and the refinements that it implies."""
    match node:
        case ast.BoolOp(op=op, values=values):
            result = condition(em, values[0])
            for value in values[1:]:
                range = _joined_range(em, values[0], value)
                result = _short_circuit(em, range, result, value, isinstance(op, ast.Or))
            return result
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _negate(em, em.range(node), condition(em, operand))
        case ast.Compare():
            return _comparison(em, node)
        case ast.Call(func=callee, args=args):
            special = _special_condition(em, node, callee, args)
            if special is not None:
                return special
    truth = to_bool(em, em.range(node), em.expr(node))
    static = None
    origin = truth.node()
    if origin.kind() == "aten::is_scripting":
        static = True
    elif origin.kind() == "prim::Constant":
        static = bool(truth.to_ivalue())
    return Condition(truth, static=static)


def _joined_range(em: Emitter, first: ast.expr, last: ast.expr) -> SourceRange:
    return JoinedRange(em.parsed.ranges, first, last)


def _negate(em: Emitter, range: SourceRange, inner: Condition) -> Condition:
    value = emit_builtin_call(range, em.graph, "aten::__not__", [inner.value])
    static = None if inner.static is None else not inner.static
    return Condition(value, inner.if_false, inner.if_true, static)


def _short_circuit(
    em: Emitter, range: SourceRange, left: Condition, node: ast.expr | Callable[[], Condition], is_or: bool
) -> Condition:
    """Emit `left and node` or `left or node` as a `prim::If` (short-circuit evaluation)."""
    right: list[Condition] = []

    def constant() -> Value:
        return em.constant(is_or, range)

    def proceed() -> Value:
        right.append(node() if callable(node) else condition(em, node))
        return right[0].value

    if is_or:
        value = _if_expression(em, range, left, constant, proceed)
    else:
        value = _if_expression(em, range, left, proceed, constant)
    a, b = left, right[0]
    static = None
    if is_or in (a.static, b.static):
        static = is_or
    elif a.static is not None and b.static is not None:
        static = not is_or
    if is_or:
        return Condition(
            value, refine_by_either(a.if_true, b.if_true), refine_by_both(a.if_false, b.if_false), static
        )
    return Condition(
        value, refine_by_both(a.if_true, b.if_true), refine_by_either(a.if_false, b.if_false), static
    )


def _comparison(em: Emitter, node: ast.Compare) -> Condition:
    """Emit a comparison, or a chained comparison `a < b < c` as `a < b and b < c`."""
    operands = [node.left, *node.comparators]
    if len(node.ops) > 1:
        operands = [_evaluated_once(em, operand) for operand in operands[:-1]] + operands[-1:]

    def link(i: int) -> Condition:
        range = _joined_range(em, operands[i], operands[i + 1])
        return _compare(em, range, operands[i], node.ops[i], operands[i + 1])

    result = link(0)
    for i in range(1, len(node.ops)):
        comparison_range = _joined_range(em, operands[0], operands[i + 1])
        result = _short_circuit(em, comparison_range, result, partial(link, i), False)
    return result


def _evaluated_once(em: Emitter, node: ast.expr) -> ast.expr:
    """Return operand `node` of a chained comparison, or a temporary variable for an operand with a call.

    Two comparisons use the operand. With the variable, the call runs once, as in Python. In PyTorch, it runs
    twice.
    """
    if not any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        return node
    name = em.temporary("$operand_")
    em.scope.set(em.range(node), name, em.expr(node))
    return ast.copy_location(ast.Name(name, ast.Load()), node)


def _compare(em: Emitter, range: SourceRange, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Condition:
    if isinstance(op, ast.Is | ast.IsNot):
        return _identity(em, range, left, right, isinstance(op, ast.Is))
    if isinstance(op, ast.NotIn):
        return _negate(em, range, _compare(em, range, left, ast.In(), right))
    return Condition(to_bool(em, range, _emit_comparison(em, range, left, op, right)))


def _emit_comparison(
    em: Emitter, range: SourceRange, left: ast.expr, op: ast.cmpop, right: ast.expr
) -> Value:
    """Emit one comparison and return its result, a Tensor for tensor operands."""
    a = em.expr(left)
    if isinstance(op, ast.In):
        container = em.sugared(right)
        membership = container.contains(em, range, a)
        if membership is not None:
            return membership
        a, b = container.as_value(em, em.range(right)), a
    else:
        b = em.expr(right)
    method_result = call_operator_method(em, range, MAGIC.get(type(op)), (a, b))
    return method_result or emit_builtin_call(range, em.graph, BINARY[type(op)], [a, b])


def _none_status(value: Value) -> bool | None:
    """Return True if `value` is statically None, False if statically not None, and otherwise None.

    The result depends on the static type: it is None for Optional, Union and Any.
    """
    type = value.type()
    if type is NONE or value.node().must_be_none():
        return True
    if isinstance(type, OptionalType | UnionType) or type is ANY:
        return None
    return False


def _identity(em: Emitter, range: SourceRange, left: ast.expr, right: ast.expr, is_is: bool) -> Condition:
    a = em.expr(left)
    b = em.expr(right)
    a_none, b_none = _none_status(a), _none_status(b)
    if a_none and b_none:
        return Condition(em.constant(is_is, range), static=is_is)
    if (a_none is True and b_none is False) or (a_none is False and b_none is True):
        return Condition(em.constant(not is_is, range), static=not is_is)
    value = emit_builtin_call(range, em.graph, "aten::__is__" if is_is else "aten::__isnot__", [a, b])
    if not _is_none(right) and _is_none(left):
        left, right, a = right, left, b
    present: list[Refinement] = []
    if _is_none(right) and isinstance(left, ast.Name):
        refined = without_none(a.type())
        present = [] if refined is None else [(left.id, refined)]
    return Condition(value, [], present) if is_is else Condition(value, present, [])


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def to_bool(em: Emitter, range: SourceRange, value: Value) -> Value:
    """Emit the conversion of a condition's value to bool."""
    try:
        cast = GLOBALS["bool"].call(em, range, [value], {}, 0).as_value(em, range)
    except CompilationError as error:
        if error.has_caller:  # the class of the value has a `__bool__` that does not compile
            raise
        raise CompilationError(
            f"Could not cast value of type {value.type().repr_str} to bool", range
        ) from None
    if not cast.type().is_subtype_of(BOOL):
        raise CompilationError(
            f"expected a bool expression for condition but found {cast.type().repr_str}", range
        )
    return cast


def _special_condition(
    em: Emitter, node: ast.Call, callee: ast.expr, args: Sequence[ast.expr]
) -> Condition | None:
    """Emit a call of `isinstance` or `torch.jit.isinstance` as a condition. Return None for other calls."""
    if isinstance(callee, ast.Name) and callee.id == "isinstance" and not em.scope.is_defined("isinstance"):
        if len(args) != 2:
            raise CompilationError(
                f"isinstance expected exactly 2 arguments, got {len(args)}", em.range(node)
            )
        return isinstance_condition(em, args[0], args[1])
    function = em.emit_again(lambda: em.sugared(callee))
    if isinstance(function, SpecialForm) and function.form == "isinstance" and len(args) == 2:
        return isinstance_condition(em, args[0], args[1])
    return None


def isinstance_condition(em: Emitter, obj: ast.expr, classes: ast.expr) -> Condition:
    """Emit `isinstance(obj, classes)`: a constant if known at compile time, else `prim::isinstance`."""
    value = em.expr(obj)
    test = type_test(value.type(), _classes(em, classes, value.type()))
    if_true: list[Refinement] = []
    if_false: list[Refinement] = []
    if isinstance(obj, ast.Name):
        if_true = [] if test.if_true is None else [(obj.id, test.if_true)]
        if_false = [] if test.if_false is None else [(obj.id, test.if_false)]
    if test.static is not None:
        return Condition(em.constant(test.static, em.range(obj)), if_true, if_false, test.static)
    node = em.insert("prim::isinstance", (value,)).set("types", test.tested, "tys")
    return Condition(node.output().set_type(BOOL), if_true, if_false)


def _classes(em: Emitter, node: ast.expr, subject: Type) -> list[Type]:
    """Return the types that `node`, the second argument of `isinstance`, contains.

    `subject` is the type of the first argument of `isinstance`.
    """
    match node:
        # In printed source, the second argument of `isinstance` is a list instead of a tuple
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return [type for element in elements for type in _classes(em, element, subject)]
        case ast.Call(func=ast.Name(id="type"), args=[ast.Constant(value=None)]):
            return [NONE]
        case ast.Name() | ast.Attribute() if isinstance(subject, ModuleType) and subject.concrete is not None:
            try:
                module_class = em.resolver.evaluate(node)
            except (KeyError, AttributeError):
                module_class = None
            if is_module_class(module_class):
                return [subject] if issubclass(subject.concrete.python_class, module_class) else []
    return [em.type_of(node)]


@expression(ast.BoolOp, ast.Compare)
def emit_condition(em: Emitter, node: ast.expr, hint: Type | None) -> Value:
    """Emit `and`, `or` or a comparison as an expression. A comparison of tensors is a tensor."""
    single = isinstance(node, ast.Compare) and len(node.ops) == 1
    if (
        isinstance(node, ast.Compare)
        and single
        and not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.NotIn)
    ):
        return _emit_comparison(em, em.range(node), node.left, node.ops[0], node.comparators[0])
    return condition(em, node).value


# ---- `if` statements, ternaries and `assert` -------------------------------------------------------


def refine(em: Emitter, range: SourceRange, refinements: Sequence[Refinement]) -> None:
    """Assign to each variable in `refinements` a `prim::unchecked_cast` of its value to the refined type."""
    for name, type in refinements:
        em.scope.set(range, name, em.unchecked_cast(em.variable(name, range), type))


def _if_expression(
    em: Emitter,
    range: SourceRange,
    cond: Condition,
    if_true: Callable[[], Value],
    if_false: Callable[[], Value],
) -> Value:
    node = em.insert("prim::If", (cond.value,), 0, range)
    blocks = node.add_block(), node.add_block()
    types = []
    branches = zip(blocks, (cond.if_true, cond.if_false), (if_true, if_false), strict=True)
    for block, refinements, emit in branches:
        with em.in_block(block):
            refine(em, range, refinements)
            value = emit()
            block.register_output(value)
            types.append(value.type())
    unified = unify(types[0], types[1])
    if unified is None:
        raise CompilationError(
            f"if-expression's true branch has type {types[0].repr_str} "
            f"but false branch has type {types[1].repr_str}",
            range,
        )
    return node.add_output(type=unified)


@expression(ast.IfExp)
def emit_ternary(em: Emitter, node: ast.IfExp, hint: Type | None) -> Value:
    """Emit `a if c else b`, or only one operand if the condition is known at compile time."""
    cond = condition(em, node.test)
    if cond.static is not None:
        return em.expr(node.body if cond.static else node.orelse, hint)
    return _if_expression(
        em, em.range(node), cond, lambda: em.expr(node.body, hint), lambda: em.expr(node.orelse, hint)
    )


@statement(ast.If)
def emit_if(em: Emitter, node: ast.If) -> None:
    """Emit an `if` statement with the type refinements that its condition implies for each branch."""
    cond = condition(em, node.test)
    range = em.range(node)
    branch(em, range, cond, lambda: em.statements(node.body), lambda: em.statements(node.orelse))


def branch(
    em: Emitter,
    range: SourceRange,
    cond: Condition,
    if_true: Callable[[], None],
    if_false: Callable[[], None],
) -> None:
    """Emit an `if` statement, with definite assignment analysis of the variables of its branches.

    `if_true` and `if_false` emit the statements of the branches. A variable is defined after the statement if
    it is defined at the end of both branches. A branch that ends with `return`, `raise`, `break` or
    `continue` is ignored.
    """
    if cond.static is not None:
        if cond.static:
            refine(em, range, cond.if_true)
            if_true()
        else:
            refine(em, range, cond.if_false)
            if_false()
        return
    node = em.insert("prim::If", (cond.value,), 0, range)
    true_block, false_block = node.add_block(), node.add_block()
    with em.in_block(true_block) as true_scope:
        refine(em, range, cond.if_true)
        if_true()
    with em.in_block(false_block) as false_scope:
        refine(em, range, cond.if_false)
        if_false()
    true_exits, false_exits = true_block in em.exits, false_block in em.exits
    if true_exits and false_exits:
        em.exits.add(em.scope.block)

    assigned: set[str] = set()
    sides = (
        (true_scope, false_scope, false_exits, "false"),
        (false_scope, true_scope, true_exits, "true"),
    )
    for scope, other, other_exits, branch_name in sides:
        for name in scope.defined_variables():
            is_defined = other.lookup_type(name) is not None
            if is_defined or other_exits:
                assigned.add(name)
            if not is_defined and (not other_exits or _leaves_iteration(other.block)):
                message = f"{name} is not defined in the {branch_name} branch"
                em.scope.errors[name] = message, range
    for name in sorted(assigned):
        _join(em, range, name, (true_scope, true_block, true_exits), (false_scope, false_block, false_exits))


def _leaves_iteration(block: Block) -> bool:
    """Return whether a block ends with `break` or `continue`. The statements after the loop may still run."""
    nodes = list(block.nodes())
    return bool(nodes) and nodes[-1].kind() in ("prim::BreakStmt", "prim::ContinueStmt")


def _join(
    em: Emitter,
    range: SourceRange,
    name: str,
    true: tuple[Scope, Block, bool],
    false: tuple[Scope, Block, bool],
) -> None:
    """Define variable `name` after an `if` statement. Its type unifies the types from both branches."""
    types: list[Type | None] = []
    for scope, block, exits in (true, false):
        assigned = None if exits else scope.lookup_type(name)
        if isinstance(assigned, SugaredValue):
            with em.graph.inserting_before(block):
                types.append(assigned.as_value(em, range).type())
        else:
            types.append(assigned)
    true_type, false_type = types
    if true_type is None and false_type is None:
        return
    for (_, block, _), branch_type, other_type in (
        (true, true_type, false_type),
        (false, false_type, true_type),
    ):
        if branch_type is None:
            assert other_type is not None
            with em.graph.inserting_before(block):
                missing = em.insert("prim::Uninitialized").output().set_type(other_type)
                em.scope.store(name, missing)
    previous_type = em.scope.lookup_type(name)
    true_type, false_type = true_type or false_type, false_type or true_type
    assert true_type is not None and false_type is not None
    unified = unify(true_type, false_type)
    if (
        unified is None
        and isinstance(previous_type, Type)
        and true_type.is_subtype_of(previous_type)
        and false_type.is_subtype_of(previous_type)
    ):
        # both values fit the type that the variable had before the `if`, such as a declared Union
        unified = previous_type
    if unified is None and em.parsed.printed:
        # printed source does not declare Union variables: infer the union
        unified = unify(true_type, false_type, True)
    if unified is None:
        message = (
            f"Type mismatch: {name} is set to type {true_type.repr_str} in the true branch "
            f"and type {false_type.repr_str} in the false branch"
        )
        if em.scope.is_defined(name):
            raise CompilationError(message, range)
        em.scope.errors[name] = message, range
        return
    em.scope.types[name] = unified
    em.scope.values.pop(name, None)


@statement(ast.Assert)
def emit_assert(em: Emitter, node: ast.Assert) -> None:
    """Emit `assert` as an `if` that raises an error in its false branch.

    In the statements after the `assert`, variables have the types that the condition implies.
    """
    cond = condition(em, node.test)
    range = em.range(node)

    def fail() -> None:
        message = em.constant("", range) if node.msg is None else em.expr(node.msg)
        failure = AssertionFailure("AssertionError").call(em, range, [message], {}, 0)
        statements.raise_exception(em, failure, range)

    branch(em, range, cond, lambda: None, fail)
