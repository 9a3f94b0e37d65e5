"""Parsing of source text to Python's abstract syntax tree (AST), with errors for unsupported constructs.

Input: a Python function. Output: a `ParsedFunction` with the AST, the source, and a resolver of outer names:

    parsed = parse.function_def(fn)
    parsed.node.body                                      syntax trees of the statements
    parsed.range(parsed.node.body[0]).highlight()         the source of the first statement, underlined

An unsupported construct raises an error with its location and an alternative. Therefore, the emitter may
assume that all nodes are supported.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from ts._core.thread import deadline
from ts.errors import FrontendError, LimitExceeded, NestingError, NotSupportedError, UnsupportedNodeError
from ts.frontend import python_syntax
from ts.frontend.function_source import FunctionSource, source_of_function
from ts.frontend.ignored_blocks import is_ignored_block
from ts.frontend.resolve import Resolver
from ts.frontend.source_ranges import Ranges
from ts.frontend.syntax_messages import torchscript_message
from ts.ir.source import Source, SourceRange
from ts.ir.types import Type

Read = Callable[[str], ast.Module]
_RESERVED_PREFIX = "__jit"
NESTED = "the code is nested too deeply; use variables, or split it into functions"

# Class of an unsupported node -> (name in messages, underlined token, suggested alternative).
_UNSUPPORTED_SYNTAX: dict[str, tuple[str, str, str]] = {
    "FunctionDef": ("function definitions", "def", "define the function outside and call it"),
    "AsyncFunctionDef": ("async function definitions", "async def", "define a plain function"),
    "AsyncFor": ("async for loops", "async for", "write a plain `for`"),
    "AsyncWith": ("async with statements", "async with", "write a plain `with`"),
    "Await": ("Await", " ", "call the function directly"),
    "ClassDef": ("class definitions", "class", "define the class outside the function"),
    "Try": ("try blocks", "try", "test with `if` before the operation that may fail"),
    "TryStar": ("try blocks", "try", "test with `if` before the operation that may fail"),
    "Import": ("import statements", "import", "import at the top of the file"),
    "ImportFrom": ("import statements", "from", "import at the top of the file"),
    "Global": ("global variables", "global", "pass the value in and return it"),
    "Nonlocal": ("nonlocal variables", "nonlocal", "pass the value in and return it"),
    "Match": ("Match", " ", "write `if` and `elif`"),
    "Lambda": ("Lambda", " ", "define a function outside and call it by name"),
    "Yield": ("Yield", " ", "append to a list and return it"),
    "YieldFrom": ("YieldFrom", " ", "append to a list and return it"),
    "Set": ("Set", " ", "use the keys of a dict"),
    "SetComp": ("SetComp", " ", "use the keys of a dict"),
    "NamedExpr": ("NamedExpr", " ", "assign in a separate statement"),
}
_STATEMENTS = frozenset({
    ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert, ast.While, ast.For,
    ast.If, ast.Pass, ast.Break, ast.Continue, ast.Delete, ast.With,
})  # fmt: skip
# Time and memory charged to `ts.limits` for each parsed character and each checked expression.
_CHARACTER_NS = 100
_CHARACTER_BYTES = 50
_CHECK_NS = 2_000

_EXPRESSIONS = frozenset({
    ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Subscript, ast.Slice, ast.List, ast.Tuple, ast.Dict, ast.JoinedStr, ast.FormattedValue,
    ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Starred,
})  # fmt: skip

# Statements that are supported with restrictions, which `_check_statement_syntax` checks.
_RESTRICTED = frozenset({ast.While, ast.For, ast.AnnAssign, ast.AugAssign, ast.Raise})


class ParsedFunction:
    """Checked function definition with its source text and the resolver of outer names."""

    self_type: Type | None = None  # type of the class, for a method
    is_classmethod = False
    signature: Any = None  # (parameters, return type) of an overload, which replace those of `node`

    def __init__(
        self,
        name: str,
        node: ast.FunctionDef,
        ranges: Ranges,
        resolver: Resolver,
        *,
        type_comment: str | None = None,
        function: FunctionType | None = None,
        printed: bool = False,
    ) -> None:
        self.name = name
        self.node = node
        self.source = ranges.source
        self.ranges = ranges
        self.resolver = resolver
        # Type comment in the form "# type: (int, Tensor) -> int", or None. One comment per argument in the
        # source is converted to this form.
        self.type_comment = type_comment
        self.function = function  # the Python function, or None for source text
        # True for printed source (`fn.code`), which may define nested functions for forked tasks
        self.printed = printed
        self.defaults: dict[str, object] = {}  # parameter name -> default value

    def range(self, node: ast.AST) -> SourceRange:
        """Return the source range of a node of this definition."""
        return self.ranges.of(node)

    @property
    def head(self) -> SourceRange:
        """Source range of the `def` keyword."""
        return self.ranges.token(self.node, len("def"))

    def inner(self, node: ast.FunctionDef) -> ParsedFunction:
        """Return the `ParsedFunction` of a nested function definition."""
        return ParsedFunction(node.name, node, self.ranges, self.resolver, printed=self.printed)

    @property
    def arguments(self) -> list[ast.arg]:
        """All arguments, positional ones first."""
        args = self.node.args
        return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def function_def(
    function: Callable[..., object],
    name: str | None = None,
    signature_only: bool = False,
    function_source: FunctionSource | None = None,
) -> ParsedFunction:
    """Parse the source of a Python function. `function_source` replaces the source of `function`.

    With `signature_only`, the body may be any Python code.
    """
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a Python function, got {type(function).__name__}")
    function_source = function_source or source_of_function(function)
    source = function_source.source()
    definitions = _parse_source(function_source.dedented, source).body
    if len(definitions) != 1 or not isinstance(definitions[0], ast.FunctionDef):
        reason = ""
        if function.__name__ == "<lambda>":
            reason = "; a lambda cannot be compiled, write it with `def`"
        elif function.__code__.co_flags & inspect.CO_COROUTINE:
            reason = "; an `async` function cannot be compiled, use ts.jit.fork and wait"
        raise FrontendError(
            f"Expected a single top-level function: {function_source.filename}:"
            f"{function_source.first_line}{reason}"
        )
    parsed = ParsedFunction(
        name or function.__name__,
        definitions[0],
        Ranges(source),
        Resolver.of_function(function),
        type_comment=type_comment(function_source.text),
        function=function,
    )
    parsed.defaults = _live_defaults(function)
    if not signature_only:
        check(parsed)
    return parsed


def module_defs(
    source_text: str,
    resolver: Resolver | None = None,
    filename: str = "<string>",
    classes: dict[str, list[ParsedFunction]] | None = None,
    printed: bool = False,
) -> list[ParsedFunction]:
    """Parse a string of function definitions, the argument of `CompilationUnit`.

    If `classes` is not None, the string may also define classes, whose methods are stored in `classes` by
    class name.
    """
    read = _printed if printed else python_syntax.module
    source = Source(source_text, filename, 1, 0)
    ranges = Ranges(source, whole_subscripts=True)
    resolver = resolver or Resolver()

    def function(node: ast.stmt) -> ParsedFunction:
        if not isinstance(node, ast.FunctionDef):
            raise NotSupportedError(
                "Expected a function definition at the top level of a script or in a class", ranges.of(node)
            )
        start, end = _definition_extent(node, ranges)
        return parse_definition(node, ranges, resolver, type_comment(source_text[start:end]), printed)

    functions = []
    for node in _definitions(source_text, source, read):
        if isinstance(node, ast.ClassDef) and classes is not None:
            classes[node.name] = [function(member) for member in node.body if not _is_docstring(member)]
        else:
            functions.append(function(node))
    return functions


def parse_definition(
    node: ast.FunctionDef,
    ranges: Ranges,
    resolver: Resolver,
    comment: str | None = None,
    printed: bool = True,
) -> ParsedFunction:
    """Check the function definition `node`, evaluate its defaults, and return both as a `ParsedFunction`.

    With `printed`, the definition is from printed source.
    """
    parsed = ParsedFunction(node.name, node, ranges, resolver, type_comment=comment, printed=printed)
    check(parsed)
    parsed.defaults = _written_defaults(parsed)
    if printed:  # all calls use the same default objects: convert lists to tuples, which calls cannot modify
        parsed.defaults = {k: tuple(v) if isinstance(v, list) else v for k, v in parsed.defaults.items()}
    return parsed


def syntax_tree(source: Source, section: str | None = None, line: int = 0) -> ast.Module:
    """Parse printed source, and return its syntax tree.

    If `section` is a part of the source text, parse only this part. `line` lines precede it in the source.
    """
    padded_source = source.text if section is None else "\n" * line + section
    return _parse_source(padded_source, source, read=_printed)


def _printed(source_text: str) -> ast.Module:
    from ts.frontend import serialized_syntax  # imported here, because only archives need it

    return serialized_syntax.parse(source_text)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


_WRONG_PREFIX: Final = re.compile(r"#[\t ]*type[\t ]*:(?![\t ]*ignore)")


def type_comment(source_text: str) -> str | None:
    """Return the signature in the `# type:` comments of a definition as one comment, or None.

    Accepts both forms of PEP 484: `# type: (int, Tensor) -> int`, or one comment after each argument and then
    `# type: (...) -> int`.
    """
    if "type" not in source_text:
        return None
    lines = [line for line in source_text.split("\n") if "# type:" in line and "# type: ignore" not in line]
    if not lines:
        _check_comment_prefix(source_text)
        return None
    if len(lines) == 1:
        return lines[0][lines[0].index("# type:") :].strip()
    types: list[str] = []
    for line in lines:
        comment = line[line.index("# type:") :]
        if comment.startswith("# type: (...) -> "):
            return comment.replace("...", ", ".join(types)).strip()
        types.append(comment.removeprefix("# type:").strip().rstrip(","))
    comment_lines = "\n".join(lines)
    raise FrontendError(
        "Return type line '# type: (...) -> ...' not found on multiline type annotation\n"
        f"for type lines:\n{comment_lines}\n(see PEP 484)"
    )


def _check_comment_prefix(source_text: str) -> None:
    """Raise FrontendError for a comment with a misspelled prefix `# type:`, such as `#type:`."""
    for line_index, line in enumerate(source_text.split("\n")):
        if _WRONG_PREFIX.search(line):
            raise FrontendError(
                f"The annotation prefix in line {line_index} is probably invalid.\nIt must be '# type:'\n"
                "See PEP 484 (https://www.python.org/dev/peps/pep-0484/"
                "#suggested-syntax-for-python-2-7-and-straddling-code)\nfor examples"
            )


def _definitions(source_text: str, source: Source, read: Read) -> list[ast.stmt]:
    """Parse a source text that may be indented as a whole, and return its statements."""
    lines = (line for line in source_text.split("\n") if line.strip() and not line.lstrip().startswith("#"))
    if not next(lines, "")[:1].isspace():
        return _parse_source(source_text, source, read).body
    # The source is put into an `if` block, because removing its indentation would change multi-line strings.
    block = _parse_source("if True:\n" + source_text, source, read, first_line=0).body[0]
    assert isinstance(block, ast.If)
    for statement in block.body:
        ast.increment_lineno(statement, -1)
    return block.body


def _parse_source(
    source_text: str, source: Source, read: Read = python_syntax.module, first_line: int = 1
) -> ast.Module:
    try:
        deadline.charge(_CHARACTER_NS * len(source_text), bytes=_CHARACTER_BYTES * len(source_text))
        return read(source_text)
    except LimitExceeded as error:
        error.stack = [("<module>", SourceRange(source, 0, 1))]
        raise
    except (RecursionError, MemoryError):  # Python's parser raises these errors for deep nesting
        lines = source_text.split("\n")
        longest = max(range(len(lines)), key=lambda i: len(lines[i]))
        start = source.line_starts()[longest]
        raise NestingError(NESTED, SourceRange(source, start, start + len(lines[longest]))) from None
    except SyntaxError as error:
        line = max((error.lineno or 1) + first_line - 1, 1)
        start = source.offset_at(line, 0) + max((error.offset or 1) - 1, 0)
        error_offset = start
        while start > 0 and source.text[start : start + 1].strip() == "":
            start -= 1  # the error is at a line end: report the last character before it
        message = error.msg
        if message.startswith("cannot assign to") and source.text[start - 1 : start] == "*":
            message = f"Cannot pack a tuple into a non-variable; {message}"
        else:
            message = torchscript_message(message, source.text, error_offset)
        raise FrontendError(message, SourceRange(source, start, start + 1)) from None


def _definition_extent(node: ast.FunctionDef, ranges: Ranges) -> tuple[int, int]:
    """Return the character offsets of a definition, from `def` to the end of the body's last line."""
    start = ranges.offset(node.lineno, node.col_offset)
    end = ranges.source.text.find("\n", ranges.offset(node.end_lineno or node.lineno, 0))
    return start, end if end >= 0 else len(ranges.source.text)


def _live_defaults(function: FunctionType) -> dict[str, object]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    defaults = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return defaults | (function.__kwdefaults__ or {})


def _written_defaults(parsed: ParsedFunction) -> dict[str, object]:
    """Evaluate the default values that a definition in source text contains.

    Names in the default values are resolved in the scope that contains the definition.
    """
    args = parsed.node.args
    positional = [*args.posonlyargs, *args.args]
    pairs = list(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True))
    pairs += [(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value]
    return {arg.arg: _evaluate(value, parsed) for arg, value in pairs}


_ARITHMETIC: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip


def _evaluate(node: ast.expr, parsed: ParsedFunction) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):  # `node` is not a literal, or contains an unhashable key
        pass
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = (_evaluate(operand, parsed) for operand in (node.left, node.right))
        if isinstance(left, int | float) and isinstance(right, int | float):
            return _ARITHMETIC[type(node.op)](left, right)
    try:
        # do not evaluate subscripts: they call `__getitem__` of Python objects
        if any(isinstance(descendant, ast.Subscript) for descendant in ast.walk(node)):
            raise LookupError
        return parsed.resolver.evaluate(node)
    except (LookupError, AttributeError, TypeError):
        reason = "Expected a default value that is a constant"
        if isinstance(node, ast.Name) and not parsed.printed:
            reason = f"undefined value {node.id}"
        raise FrontendError(reason, parsed.range(node)) from None


# ---- check for unsupported constructs ------------------------------------------------------------------


def check(parsed: ParsedFunction) -> None:
    """Raise `NotSupportedError` at the first unsupported construct of a function."""
    _check_arguments(parsed)
    for statement in parsed.node.body:
        try:
            _check_statement(statement, parsed)
        except RecursionError:
            raise NestingError(NESTED, parsed.ranges.token(statement)) from None
        except LimitExceeded as error:
            error.stack = error.stack or [(parsed.name, parsed.ranges.token(statement))]
            raise


def _check_arguments(parsed: ParsedFunction) -> None:
    args = parsed.node.args
    message = (
        "Compiled functions can't take variable number of arguments "
        "or use keyword-only arguments with defaults"
    )
    for starred in (args.kwarg, args.vararg):
        if starred is not None:
            hint = "declare a list, dict or tuple parameter, or separate parameters"
            raise NotSupportedError(
                message, parsed.ranges.token(starred, len(starred.arg), characters_before=1), hint
            )
    for default in args.kw_defaults:
        if default is not None:
            hint = "remove the default, or the `*` before the parameter"
            raise NotSupportedError(message, parsed.range(default), hint)


def _unsupported(
    node: ast.stmt | ast.expr, parsed: ParsedFunction, description: str = ""
) -> NotSupportedError:
    kind = type(node).__name__
    name, token, advice = _UNSUPPORTED_SYNTAX.get(kind, (kind, " ", ""))
    message = f"{description or name} aren't supported" + (f"; {advice}" if advice else "")
    keywords = [each for each in ast.walk(parsed.node) if isinstance(each, ast.keyword)]
    keys = [each.value for each in keywords if each.arg == "key"]
    hint = "for `sorted(xs, key=...)` sort tuples that begin with the key" if node in keys else ""
    return UnsupportedNodeError(message, parsed.ranges.token(node, len(token)), hint)


def _check_exits(body: list[ast.stmt], parsed: ParsedFunction) -> None:
    """Raise FrontendError if the `body` of a nested function has a `break` or `continue` outside of loops."""
    for node in body:
        if isinstance(node, ast.Break | ast.Continue):
            word = type(node).__name__.lower()
            raise FrontendError(f"SyntaxError: '{word}' outside loop", parsed.range(node))
        if isinstance(node, ast.If | ast.With):
            _check_exits([*node.body, *getattr(node, "orelse", ())], parsed)


def _check_statement(node: ast.stmt, parsed: ParsedFunction) -> None:
    if isinstance(node, ast.FunctionDef):
        if not parsed.printed:
            _check_exits(node.body, parsed)
        if parsed.function is None:  # in source text, `node` is a forked task or a closure
            check(parsed.inner(node))
            return
    if type(node) not in _STATEMENTS:
        raise _unsupported(node, parsed)
    if parsed.function is not None and is_ignored_block(node):
        return
    if type(node) in _RESTRICTED:
        _check_statement_syntax(node, parsed)
    for child in _child_nodes(node):
        if isinstance(child, ast.stmt):
            _check_statement(child, parsed)
        else:
            _check_expression(child, parsed)


def _check_statement_syntax(node: ast.stmt, parsed: ParsedFunction) -> None:
    match node:
        case ast.While(orelse=[_, *_]):
            # PyTorch has no message for this case. The text is similar to that for `for` loops.
            raise NotSupportedError(
                "else branches of while loops aren't supported; set a flag before `break` and test it after",
                parsed.ranges.token(node, 5),
            )
        case ast.For(orelse=[_, *_]):
            raise NotSupportedError(
                "else branches of for loops aren't supported; set a flag before `break` and test it after",
                parsed.ranges.token(node, 3),
            )
        case ast.For(iter=ast.Tuple() as iterable) if parsed.function is None and not _in_brackets(iterable):
            raise NotSupportedError(
                "List of iterables is not supported currently; use zip(a, b)", parsed.range(node)
            )
        case ast.AnnAssign(value=None):
            raise _unsupported(node, parsed, "annotated assignments without assigned value")
        case ast.AugAssign(op=ast.MatMult() as op):
            _check_expression(node.target, parsed)
            _check_expression(node.value, parsed)
            equals = parsed.source.text.rindex("=", 0, parsed.range(node.value).start)
            raise NotSupportedError(
                f"unsupported kind of augmented assignment: {type(op).__name__}",
                parsed.ranges.between(equals - 1, equals + 1),
            )
        case ast.Raise(exc=None):
            raise NotSupportedError(
                "raise without an exception isn't supported; name the exception to raise", parsed.range(node)
            )


def _in_brackets(node: ast.Tuple) -> bool:
    first = node.elts[0] if node.elts else None
    return first is None or (first.lineno, first.col_offset) != (node.lineno, node.col_offset)


_SYNTAX_NODES: Final = (ast.expr, ast.stmt)
_LEAF_FIELDS: Final = frozenset({"arg", "attr", "ctx", "id", "kind", "op", "ops", "type_comment"})
# node class -> names of the fields that may contain nodes
_fields: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}
_GROUPS: Final = (ast.keyword, ast.comprehension, ast.withitem)


def _child_nodes(node: ast.AST) -> list[Any]:
    """Return the direct child expressions and statements of a node, in source order."""
    kind = type(node)
    names = _fields.get(kind)
    if names is None:
        names = _fields[kind] = tuple(name for name in kind._fields if name not in _LEAF_FIELDS)
    children: list[Any] = []
    for name in names:
        field = getattr(node, name, None)
        for child in field if isinstance(field, list) else (field,):
            if isinstance(child, _SYNTAX_NODES):
                children.append(child)
            elif isinstance(child, _GROUPS):
                children += _child_nodes(child)
    return children


def _check_expression(node: ast.expr, parsed: ParsedFunction) -> None:
    kind = type(node)
    if kind not in _EXPRESSIONS:
        raise _unsupported(node, parsed)
    check_form = _EXPRESSION_CHECKS.get(kind)
    if check_form is not None:
        check_form(node, parsed)
    children = _child_nodes(node)
    deadline.charge(_CHECK_NS * (1 + len(children)))
    for child in children:
        # most nodes are leaves, for which a recursive call would take much of the time
        if type(child) is ast.Name:
            _check_name(child, parsed)
        elif type(child) is ast.Constant:
            _check_constant(child, parsed)
        else:
            _check_expression(child, parsed)


def _check_name(node: ast.Name, parsed: ParsedFunction) -> None:
    if node.id.startswith(_RESERVED_PREFIX):
        raise NotSupportedError(
            f"names of variables used in JIT-ed functions can't start with {_RESERVED_PREFIX}",
            parsed.range(node),
        )


def _check_constant(node: ast.Constant, parsed: ParsedFunction) -> None:
    if isinstance(node.value, bytes):
        token_range = parsed.ranges.token(node, len(str(node.value)))
        raise FrontendError("Unknown Constant expression type", token_range)


def _check_unary(node: ast.UnaryOp, parsed: ParsedFunction) -> None:
    if isinstance(node.op, ast.UAdd):
        raise NotSupportedError(
            "unsupported unary operator: UAdd", parsed.ranges.token(node), "remove the `+`"
        )


def _check_call(node: ast.Call, parsed: ParsedFunction) -> None:
    for keyword in node.keywords:
        if keyword.arg is None:
            error_range = parsed.range(keyword.value)
            hint = "write the arguments one by one"
            raise NotSupportedError("keyword-arg expansion is not supported", error_range, hint)


def _check_dict(node: ast.Dict, parsed: ParsedFunction) -> None:
    if None in node.keys:
        raise NotSupportedError(
            "Dict expansion (e.g. `{**dict}`) is not supported",
            parsed.ranges.token(node),
            "copy it with `dict(d)` and add the others with `update`",
        )


def _check_comprehension(
    node: ast.ListComp | ast.GeneratorExp | ast.DictComp, parsed: ParsedFunction
) -> None:
    token_range = parsed.ranges.token(node)
    if len(node.generators) != 1:
        hint = "write nested `for` loops that append to a list"
        raise NotSupportedError("Only a single generator is currently supported", token_range, hint)
    if node.generators[0].ifs:
        is_dict = isinstance(node, ast.DictComp)
        hint = "assign to a dict in a `for` loop" if is_dict else "append to a list in a `for` loop"
        raise NotSupportedError("Comprehension ifs are not supported yet", token_range, hint)
    if node.generators[0].is_async:
        raise NotSupportedError("async comprehensions aren't supported", token_range)


def _check_formatted(node: ast.JoinedStr, parsed: ParsedFunction) -> None:
    # Underline the whole f-string, because locations inside it depend on the Python version
    token_range = parsed.ranges.token(node)
    for piece in node.values:
        if getattr(piece, "conversion", -1) != -1:
            hint = "remove the conversion (such as `!r`)"
            raise NotSupportedError("Don't support conversion in JoinedStr", token_range, hint)
        if getattr(piece, "format_spec", None) is not None:
            hint = 'use `format`: `"{:.2f}".format(x)`'
            raise NotSupportedError("Don't support formatting in JoinedStr", token_range, hint)


_EXPRESSION_CHECKS: Final[dict[type[ast.expr], Callable[[Any, ParsedFunction], None]]] = {
    ast.Name: _check_name,
    ast.Constant: _check_constant,
    ast.UnaryOp: _check_unary,
    ast.Call: _check_call,
    ast.Dict: _check_dict,
    **dict.fromkeys((ast.ListComp, ast.GeneratorExp, ast.DictComp), _check_comprehension),
    ast.JoinedStr: _check_formatted,
}
