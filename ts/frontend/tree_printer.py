"""Printing of syntax trees (AST dump) as S-expressions in PyTorch's notation.

Input: source (left). Output: the printed tree (right):

    def f(x: int):            (def
        return x + 1            (ident f)
                                (decl
                          =>      (list
                                    (param
                                      (ident x)
                                      (option (variable (ident int)))
                                      (option)
                                      (False)))
                                  (option))
                                (list
                                  (return
                                    (+ (variable (ident x)) (const 1)))))

A tree is printed on one line if it ends before column 40. Otherwise, each child starts a new line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, Final

from ts.frontend import python_syntax

_WIDTH = 40

Tree = tuple[Any, ...]  # (kind of node, children...), where a child is a string or a tree

_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.FloorDiv: "floordiv",
    ast.Pow: "pow operator", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "<", ast.LtE: "le",
    ast.Gt: ">", ast.GtE: "ge", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.USub: "unary minus",
    ast.Not: "not", ast.Invert: "~", ast.And: "and", ast.Or: "or",
}  # fmt: skip


def definition_text(
    name: str, node: ast.FunctionDef, type_comment: str | None = None, self_type: str | None = None
) -> str:
    """Return the printed syntax tree of a definition.

    `self_type` is the name of the type of the first parameter if the definition is a method.
    """
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    annotations, returns = [arg.annotation for arg in arguments], node.returns
    if type_comment is not None:
        written = python_syntax.function_type(type_comment.partition("# type:")[2].strip())
        first = len(arguments) - len(written.argtypes)
        annotations[first:], returns = written.argtypes, written.returns
    if self_type is not None:
        annotations[0] = ast.Name(self_type, ast.Load())
    parameters = []
    for arg, annotation in zip(arguments, annotations, strict=True):
        keyword_only = "True" if arg in node.args.kwonlyargs else "False"
        parameters.append(("param", _name(arg.arg), _option(annotation), ("option",), (keyword_only,)))
    declaration = ("decl", ("list", *parameters), _option(returns))
    return _format(("def", _name(name), declaration, _statements(node.body)), 0) + "\n"


def _format(tree: Tree | str, indent: int) -> str:
    flat = _flat(tree)
    if isinstance(tree, str) or indent + len(flat) < _WIDTH:
        return flat
    kind, *children = tree
    lines = "".join(f"\n{' ' * (indent + 2)}{_format(child, indent + 2)}" for child in children)
    return f"({kind}{lines})"


def _flat(tree: Tree | str) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_flat, tree))})"


def _name(name: str) -> Tree:
    return "ident", name


def _variable(name: str) -> Tree:
    return "variable", _name(name)


def _list(nodes: Iterable[ast.expr]) -> Tree:
    return "list", *map(_expression, nodes)


def _option(node: ast.expr | None) -> Tree:
    return ("option",) if node is None else ("option", _expression(node))


def _statements(nodes: Iterable[ast.stmt]) -> Tree:
    return "list", *map(_statement, nodes)


# ---- trees of statements -----------------------------------------------------------------------------


def _statement(node: ast.stmt) -> Tree:
    match node:
        case ast.Assign(targets=targets, value=value):
            return "assign", _list(targets), _option(value), ("option",)
        case ast.AnnAssign(target=target, value=value, annotation=annotation):
            return "assign", _list([target]), _option(value), _option(annotation)
        case ast.AugAssign(target=target, op=operator, value=value):
            return "aug_assign", _expression(target), (_OPERATORS[type(operator)],), _expression(value)
        case ast.Expr(value=value):
            return "expression statement", _expression(value)
        case ast.Return(value=value):
            return "return", ("None",) if value is None else _expression(value)
        case ast.Raise(exc=exception) if exception is not None:
            return "raise", _expression(exception)
        case ast.Assert(test=test, msg=message):
            return "assert", _expression(test), _option(message)
        case ast.If(test=test, body=body, orelse=otherwise):
            return "if", _expression(test), _statements(body), _statements(otherwise)
        case ast.While(test=test, body=body):
            return "while", _expression(test), _statements(body)
        case ast.For(target=target, iter=iterable, body=body):
            return "for", _list([target]), _list([iterable]), _statements(body)
        case ast.With(items=items, body=body):
            item_trees = [("withitem", _expression(i.context_expr), _option(i.optional_vars)) for i in items]
            return "with", ("list", *item_trees), _statements(body)
        case ast.Delete(targets=targets):
            return "del", _list(targets)
    return (type(node).__name__.lower(),)  # `pass`, `break` and `continue` have no children


# ---- trees of expressions ----------------------------------------------------------------------------


def _expression(node: ast.expr) -> Tree:
    return _EXPRESSIONS[type(node)](node)


def _constant(node: ast.Constant) -> Tree:
    value = node.value
    if value is ...:
        return ("dots",)
    if value is None or isinstance(value, bool):
        return (str(value),)
    return ("string_literal", value) if isinstance(value, str) else ("const", str(value))


def _bool_operation(node: ast.BoolOp) -> Tree:
    kind = _OPERATORS[type(node.op)]
    tree = _expression(node.values[0])
    for value in node.values[1:]:
        tree = kind, tree, _expression(value)
    return tree


def _comparison(node: ast.Compare) -> Tree:
    """Return the tree of a comparison. `a < b < c` becomes `a < b and b < c`."""
    operands = [node.left, *node.comparators]
    tree: Tree = ()
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        negated = isinstance(operator, ast.NotIn)
        kind = "in" if negated else _OPERATORS[type(operator)]
        pair: Tree = kind, _expression(left), _expression(right)
        if negated:
            pair = "not", pair
        tree = ("and", tree, pair) if tree else pair
    return tree


def _subscript(node: ast.Subscript) -> Tree:
    index = node.slice
    indices = index.elts if isinstance(index, ast.Tuple) and index.elts else [index]
    return "subscript", _expression(node.value), _list(indices)


def _call(node: ast.Call) -> Tree:
    keywords = [("attribute", _name(k.arg or ""), _expression(k.value)) for k in node.keywords]
    return "apply", _expression(node.func), _list(node.args), ("list", *keywords)


def _formatted(node: ast.JoinedStr) -> Tree:
    """Return the tree of an f-string: a call of `format`."""
    template, values = "", []
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            template += "{}"
            values.append(piece.value)
        elif isinstance(piece, ast.Constant):
            template += str(piece.value)
    return "apply", (".", ("string_literal", template), _name("format")), _list(values), ("list",)


_EXPRESSIONS: Final[dict[type[ast.expr], Callable[[Any], Tree]]] = {
    ast.Name: lambda node: _variable(node.id),
    ast.Constant: _constant,
    ast.Attribute: lambda node: (".", _expression(node.value), _name(node.attr)),
    ast.Call: _call,
    ast.BinOp: lambda node: (_OPERATORS[type(node.op)], _expression(node.left), _expression(node.right)),
    ast.UnaryOp: lambda node: (_OPERATORS[type(node.op)], _expression(node.operand)),
    ast.BoolOp: _bool_operation,
    ast.Compare: _comparison,
    ast.IfExp: lambda node: ("if", *map(_expression, (node.test, node.body, node.orelse))),
    ast.Subscript: _subscript,
    ast.Slice: lambda node: ("slice expr", _option(node.lower), _option(node.upper), _option(node.step)),
    ast.List: lambda node: ("list-literal", _list(node.elts)),
    ast.Tuple: lambda node: ("tuple-literal", _list(node.elts)),
    ast.Dict: lambda node: ("dict-literal", _list(node.keys), _list(node.values)),
    ast.Starred: lambda node: ("starred", _expression(node.value)),
    ast.ListComp: lambda node: (
        "list comprehension",
        *map(_expression, (node.elt, node.generators[0].target, node.generators[0].iter)),
    ),
    ast.DictComp: lambda node: (
        "dict comprehension",
        *map(_expression, (node.key, node.value, node.generators[0].target, node.generators[0].iter)),
    ),
    ast.JoinedStr: _formatted,
}
_EXPRESSIONS[ast.GeneratorExp] = _EXPRESSIONS[ast.ListComp]
