"""Emission of simple statements, such as assignments with tuple unpacking (destructuring) and `return`.

Statements (left) become nodes (right):

    a, *b = t            prim::TupleUnpack(%t), a tuple of the remaining values for b, two stores
    x += 1               aten::add_ for tensors and lists, otherwise aten::add
    x[0, 1:] = y         aten::select, aten::slice, aten::copy_
    d["k"] = v           aten::_set_item
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ts.errors import CompilationError, NotSupportedError
from ts.frontend import hints
from ts.frontend.ir_emitter import subscripts
from ts.frontend.ir_emitter.emitter import Emitter, statement
from ts.frontend.ir_emitter.operators import AUGMENTED, AUGMENTED_ITEM, MAGIC
from ts.frontend.schema_matching import convert_to_type, emit_builtin_call, emit_builtin_statement
from ts.frontend.sugared_values.classes import (
    call_augmented_method,
    call_operator_method,
    delete_item,
    set_attribute,
)
from ts.frontend.sugared_values.sugared import ExceptionClass, ExceptionInstance, SugaredValue
from ts.ir.source import SourceRange
from ts.ir.types import ANY, NONE, STR, TENSOR, ClassType, DictType, ListType, Type, unify
from ts.ir.value import Value


@statement(ast.Expr)
def emit_expression(em: Emitter, node: ast.Expr) -> None:
    """Emit an expression statement and discard its result."""
    em.sugared(node.value, 0)


@statement(ast.Pass)
def emit_pass(em: Emitter, node: ast.Pass) -> None:
    """Emit no node for `pass`."""


# ---- assignments and `del` -------------------------------------------------------------------------


@statement(ast.Assign)
def emit_assign(em: Emitter, node: ast.Assign) -> None:
    """Emit an assignment. The value of `a = b = value` is evaluated once, then assigned left to right."""
    if len(node.targets) == 1:
        _assign_expression(em, node.targets[0], node.value, em.range(node))
        return
    name = em.temporary("$tmp_assign_")
    range = em.range(node.value)
    em.scope.set(range, name, em.sugared(node.value))
    temporary = ast.copy_location(ast.Name(name, ast.Load()), node.value)
    for target in node.targets:
        _assign_expression(em, target, temporary, em.range(node))


@statement(ast.AnnAssign)
def emit_annotated_assign(em: Emitter, node: ast.AnnAssign) -> None:
    """Emit an assignment whose annotation determines the type of the value and of the variable."""
    assert node.value is not None  # the parser has already rejected declarations without a value
    type = em.type_of(node.annotation)
    if isinstance(node.target, ast.Attribute):
        _assign_attribute(em, node.target, node.value, em.range(node), type)
        return
    if isinstance(node.target, ast.Subscript):
        subscripts.assign(em, node.target, em.expr(node.value, type), em.range(node))
        return
    if not isinstance(node.target, ast.Name):
        raise NotSupportedError(
            "Type annotations on assignments to anything but a name are not supported", em.range(node.target)
        )
    value = em.sugared(node.value, 1, type)
    em.scope.set(em.range(node.target), node.target.id, value, type)


def _assign_expression(em: Emitter, target: ast.expr, value: ast.expr, range: SourceRange) -> None:
    match target:
        case ast.Name(id=name):
            em.scope.set(em.range(target), name, em.sugared(value))
        case ast.Tuple(elts=targets):
            starred = check_targets(em, targets)
            n_binders = len(targets) - starred
            assign_tuple(em, target, targets, em.sugared(value, n_binders), em.range(value))
        case ast.Starred():
            check_targets(em, [target])
        case ast.Subscript():
            subscripts.assign(em, target, em.expr(value), range)
        case ast.Attribute():
            _assign_attribute(em, target, value, range)
        case _:
            raise _no_target(em, target)


def _assign_attribute(
    em: Emitter, target: ast.Attribute, value: ast.expr, range: SourceRange, annotated: Type | None = None
) -> None:
    base = em.sugared(target.value)
    set_attribute(em, range, base, target.attr, em.expr(value, annotated), annotated)


def _no_target(em: Emitter, target: ast.expr) -> CompilationError:
    advice = "; write the targets without brackets" if isinstance(target, ast.List) else ""
    return CompilationError(
        f"unexpected expression on left-hand side of assignment{advice}", em.range(target)
    )


def check_targets(em: Emitter, targets: Sequence[ast.expr]) -> bool:
    """Return whether one of the unpacking `targets` is starred.

    Raise CompilationError for several starred targets, and for a starred target without other targets.
    """
    starred = [target for target in targets if isinstance(target, ast.Starred)]
    if len(starred) > 1:
        raise CompilationError("Only one starred expression is allowed on the lhs", em.range(starred[1]))
    if starred and len(targets) == 1:
        raise CompilationError(
            "A Starred expression may only appear on the lhs within the presence of another non-starred "
            "expression; write `a, *b = ...`",
            em.range(starred[0]),
        )
    return bool(starred)


def assign_tuple(
    em: Emitter, target: ast.expr, targets: Sequence[ast.expr], value: SugaredValue, range: SourceRange
) -> None:
    """Unpack `value` over targets (destructuring assignment), one of which may be starred."""
    starred = check_targets(em, targets)
    n_binders = len(targets) - starred
    outputs = value.as_tuple(em, range, None if starred else n_binders)
    if len(outputs) < n_binders:
        at_least = "at least " if starred else ""
        raise CompilationError(
            f"need {at_least}{n_binders} values to unpack but found only {len(outputs)}", em.range(target)
        )
    if len(outputs) > n_binders and not starred:
        raise CompilationError(
            f"too many values to unpack: need {n_binders} but found {len(outputs)}", em.range(target)
        )
    assign_each(em, targets, outputs, range, n_binders)


def assign_each(
    em: Emitter,
    targets: Sequence[ast.expr],
    outputs: Sequence[SugaredValue],
    range: SourceRange,
    n_binders: int,
) -> None:
    """Assign `outputs`, the elements of an unpacked tuple, to `targets`, one of which may be starred."""
    i = 0
    for target in targets:
        match target:
            case ast.Name(id=name):
                em.scope.set(em.range(target), name, outputs[i])
            case ast.Starred(value=ast.Name(id=name) as variable):
                starred_values = outputs[i : i + len(outputs) - n_binders]
                target_range = em.range(target)
                em.scope.set(
                    em.range(variable),
                    name,
                    em.tuple([item.as_value(em, target_range) for item in starred_values]),
                )
                i += len(starred_values) - 1
            case ast.Starred():
                raise CompilationError("Cannot pack a tuple into a non-variable", em.range(target))
            case ast.Tuple(elts=inner):
                assign_tuple(em, target, inner, outputs[i], range)
            case ast.Subscript():
                subscripts.assign(em, target, outputs[i].as_value(em, range), range)
            case ast.Attribute(value=base, attr=name):
                set_attribute(em, range, em.sugared(base), name, outputs[i].as_value(em, range))
            case _:
                raise CompilationError(
                    "lhs of assignment must be a variable, subscript, or starred expression", em.range(target)
                )
        i += 1


@statement(ast.AugAssign)
def emit_augmented_assign(em: Emitter, node: ast.AugAssign) -> None:
    """Emit `x += y` and similar statements.

    Tensors and lists change in place, except if `x` is an item of a dict.
    """
    range = em.range(node)
    match node.target:
        case ast.Name(id=name) as target:
            value = em.variable(name, em.range(target))
            em.scope.set(em.range(target), name, _emit_augmented_value(em, node, value, range))
        case ast.Attribute() as target:
            base = em.sugared(target.value)
            target_range = em.range(target)
            value = base.attr(em, target_range, target.attr).as_value(em, target_range)
            set_attribute(em, range, base, target.attr, _emit_augmented_value(em, node, value, range))
        case ast.Subscript() as target:
            container = em.expr(target.value)
            if container.type().is_subtype_of(TENSOR):
                _augment_tensor_item(em, node, target, container, range)
            else:
                _augment_item(em, node, target, container, range)
        case _:
            raise CompilationError(
                "unexpected expression on left-hand side of augmented assignment", em.range(node.target)
            )


def _emit_augmented_value(em: Emitter, node: ast.AugAssign, value: Value, range: SourceRange) -> Value:
    """Emit the operator of an augmented assignment, such as `value += operand`."""
    operand = em.expr(node.value)
    method_result = call_augmented_method(em, range, MAGIC[node.op.__class__], value, operand)
    if method_result is not None:
        return method_result
    operator = _augmented_operator(em, node, value.type())
    return emit_builtin_call(range, em.graph, operator, [value, operand])


def _augmented_operator(em: Emitter, node: ast.AugAssign, type: Type) -> str:
    plain, in_place = AUGMENTED[node.op.__class__]
    is_in_place = type.is_subtype_of(TENSOR) or isinstance(type, ListType)
    return in_place if is_in_place else plain


def _augment_tensor_item(
    em: Emitter, node: ast.AugAssign, target: ast.Subscript, tensor: Value, range: SourceRange
) -> None:
    sliced, indices = subscripts.int_and_slice_indexing(
        em, em.range(target), tensor, subscripts.index_expressions(em, target)
    )
    operand = em.expr(node.value)
    operator_class = node.op.__class__
    operator = AUGMENTED_ITEM.get(operator_class) or AUGMENTED[operator_class][1]
    if not indices:
        emit_builtin_call(range, em.graph, operator, [operand], {}, sliced)
        return
    index_values = subscripts.index_list(em, indices)
    indexed = emit_builtin_call(range, em.graph, "aten::index", [sliced, index_values])
    result = emit_builtin_call(range, em.graph, operator, [operand], {}, indexed)
    emit_builtin_call(range, em.graph, "aten::index_put_", [sliced, index_values, result])


def _augment_item(
    em: Emitter, node: ast.AugAssign, target: ast.Subscript, container: Value, range: SourceRange
) -> None:
    type = container.type()
    if isinstance(target.slice, ast.Tuple | ast.Slice):
        raise NotSupportedError(
            f"Sliced expression not yet supported for {type.repr_str} augmented assignment. "
            "File a bug if you want this",
            em.range(target),
        )
    if isinstance(type, ClassType):
        index = em.expr(target.slice)
        item = call_operator_method(em, range, "__getitem__", (container, index))
        assert item is not None
        call_operator_method(
            em, range, "__setitem__", (container, index, _emit_augmented_value(em, node, item, range))
        )
        return
    if isinstance(type, ListType):
        operator = _augmented_operator(em, node, type.elem)
    elif isinstance(type, DictType):
        # As in PyTorch, an operator on a dict item is not in-place, even if the item is a tensor or a list.
        # The exception is `//=`, an extension of `ts`, which is in-place.
        is_extension = isinstance(node.op, ast.FloorDiv)
        operator = _augmented_operator(em, node, type.value if is_extension else NONE)
    else:
        raise CompilationError(f"{type.repr_str} does not support augmented assignment.", em.range(target))
    index = em.expr(target.slice)
    operand = em.expr(node.value)
    item = emit_builtin_call(range, em.graph, "aten::__getitem__", [container, index])
    result = emit_builtin_call(range, em.graph, operator, [item, operand])
    emit_builtin_call(range, em.graph, "aten::_set_item", [container, index, result])


@statement(ast.Delete)
def emit_delete(em: Emitter, node: ast.Delete) -> None:
    """Emit `del` of a list or dict item, or remove a variable from the scope."""
    for target in node.targets:
        match target:
            case ast.Subscript():
                if isinstance(target.slice, ast.Slice):
                    raise NotSupportedError(
                        "del statements only support deletion at a single index, slicing is not supported "
                        "(see https://github.com/pytorch/pytorch/issues/31430)",
                        em.range(target),
                    )
                container = em.sugared(target.value)
                index = em.expr(target.slice)
                value = container.as_value(em, em.range(target.value))
                if isinstance(value.type(), ClassType):
                    delete_item(em, em.range(target), em.range(node), value, index)
                    continue
                if not isinstance(value.type(), ListType | DictType):
                    raise CompilationError(
                        "del statements are only supported for deleting list and dict items, not items of a "
                        f"{value.type().repr_str}",
                        em.range(target),
                    )
                emit_builtin_statement(em.range(target), em.graph, "aten::Delete", [value, index])
            case ast.Name(id=name):
                if not em.scope.remove(name):
                    raise CompilationError(f"undefined value {name}", em.range(target))
            case _:
                raise CompilationError(
                    "del statements are only supported for deleting list and dict items and variables",
                    em.range(target),
                )


# ---- return, raise, break, continue ----------------------------------------------------------------


@statement(ast.Return)
def emit_return(em: Emitter, node: ast.Return) -> None:
    """Emit a `return`. The declared return type is the type hint of the value."""
    declared = em.declared_return
    range = em.range(node)
    value = em.constant(None, range) if node.value is None else em.expr(node.value, declared)
    finish(em, value, range)


def finish(em: Emitter, value: Value, range: SourceRange) -> None:
    """Emit the return of `value`.

    Convert `value` to the declared return type. Without a declared type, unify its type with the types of
    earlier `return` statements. Raise CompilationError if this is impossible.
    """
    declared = em.declared_return
    if declared is not None:
        if value.type() is not NONE:
            value = convert_to_type(range, em.graph, declared, value, True)
        if not value.type().is_subtype_of(declared):
            raise CompilationError(
                f"Return value was annotated as having type {declared.repr_str} "
                f"but is actually of type {value.type().repr_str}",
                range,
                hints.conversion(value.type(), declared, value),
            )
        return_type = declared
    else:
        previous_type = em.merged_return or value.type()
        unified = unify(previous_type, value.type())
        if unified is None:
            raise CompilationError(
                f"Previous return statement returned a value of type {previous_type.repr_str} "
                f"but this return statement returns a value of type {value.type().repr_str}",
                range,
                hints.return_type_conflict(previous_type, value.type(), em.merged_return_at),
            )
        return_type = unified
    if return_type is not em.merged_return:
        em.merged_return, em.merged_return_at = return_type, range
    if return_type is ANY and value.type() is not ANY:
        value = em.unchecked_cast(value, ANY)
    if em.lines:
        em.mark("return", (value,), range)
    em.insert("prim::ReturnStmt", (value,), 0)
    em.exits.add(em.scope.block)


@statement(ast.Raise)
def emit_raise(em: Emitter, node: ast.Raise) -> None:
    """Emit a `raise` of an exception class or instance."""
    assert node.exc is not None  # the parser rejects a bare `raise`
    raise_exception(em, em.sugared(node.exc), em.range(node))


def raise_exception(em: Emitter, raised: SugaredValue, range: SourceRange) -> None:
    """Emit `raise` of an exception instance or class."""
    args: list[Value]
    if isinstance(raised, ExceptionInstance):
        message = raised.message
        args = [raised.class_name] if raised.class_name is not None else []
    elif isinstance(raised, ExceptionClass):
        message, args = em.constant("", range), []
    else:
        raise CompilationError("exceptions must derive from BaseException", range)
    if not message.type().is_subtype_of(STR):
        message = emit_builtin_call(None, em.graph, "aten::str", [message])
    emit_builtin_call(range, em.graph, "prim::RaiseException", [message, *args])
    em.exits.add(em.scope.block)


@statement(ast.Break, ast.Continue)
def emit_break(em: Emitter, node: ast.Break | ast.Continue) -> None:
    """Emit `break` or `continue`. Raise NotSupportedError in an unrolled loop."""
    word = "break" if isinstance(node, ast.Break) else "continue"
    range = em.range(node)
    if em.loop is None:
        raise CompilationError(f"SyntaxError: '{word}' outside loop", range)
    if em.loop == "unrolled":
        raise NotSupportedError(
            "Because we emit iteration over modulelists or tuples as unrolled loops, "
            "we do not support break or continue inside the body of these loops; loop over a list instead",
            range,
        )
    em.scope.insert_stores()
    em.insert("prim::BreakStmt" if word == "break" else "prim::ContinueStmt", (), 0, range)
    em.exits.add(em.scope.block)
