"""Signatures: parameters of a definition with types and defaults, and the return type.

For this function, `signature` returns the parameters and the return type in the second line:

    def f(x, n: int = 3, names: Optional[List[str]] = None) -> Dict[str, Tensor]:
    [x: Tensor, n: int = 3, names: str[]? = None], Dict(str, Tensor)

Types come from annotations or from a type comment. Parameters without annotation are Tensors. A return type
without annotation is None, and is inferred later.
"""

from __future__ import annotations

import ast
import keyword
import re
from typing import Any, NamedTuple

from ts.errors import CompilationError, FrontendError
from ts.frontend import hints, python_syntax
from ts.frontend.annotations import AnnotationParser, SizedType
from ts.frontend.defaults import NO_DEFAULT, constant_of_type
from ts.frontend.example_types import annotation_of
from ts.frontend.parse import ParsedFunction
from ts.frontend.resolve import to_ts
from ts.frontend.source_ranges import Ranges
from ts.ir import types as ir
from ts.ir.attributes import type_of_constant
from ts.ir.source import Source, SourceRange
from ts.ir.types import Type


class Parameter(NamedTuple):
    """One parameter of a scripted function. `default` is NO_DEFAULT for required parameters.

    `size` is the list length to which a single value is expanded: 2 for `BroadcastingList2[int]`.
    """

    name: str
    type: Type
    default: Any
    kw_only: bool
    size: int | None = None


def signature(parsed: ParsedFunction) -> tuple[list[Parameter], Type | None]:
    """Return a definition's parameters and return type. Without annotation, the return type is None."""
    if parsed.signature is not None:
        return parsed.signature  # type: ignore[no-any-return]
    reader = AnnotationParser(parsed.resolver, parsed.ranges)
    reader.is_text = parsed.function is None
    arguments = parsed.arguments
    types: list[SizedType]
    returns: Type | None = None
    if parsed.type_comment is not None:
        types, returns = _from_comment(parsed, len(arguments) - (parsed.self_type is not None))
        if parsed.self_type is not None:
            types.insert(0, (parsed.self_type, None))
    else:
        inferred: SizedType = (ir.TensorType.get_inferred(), None)
        has_self = parsed.self_type is not None and bool(arguments)
        live_annotations = {} if parsed.function is None else parsed.function.__annotations__
        types = [
            reader.read_live(arg.annotation, live_annotations.get(arg.arg))
            if arg.annotation is not None
            else _observed_type(reader, parsed, arg.arg) or _state_type(parsed) or inferred
            for arg in arguments[has_self:]
        ]
        if parsed.self_type is not None and has_self:
            types.insert(0, (parsed.self_type, None))
        if parsed.node.returns is not None:
            returns, _ = reader.read_live(parsed.node.returns, live_annotations.get("return"))
    _check_named_tuples([*(type for type, _ in types), *([] if returns is None else [returns])])
    if parsed.function is None and not parsed.printed:
        _check_written_defaults(parsed, [type for type, _ in types])
    keyword_only = set(parsed.node.args.kwonlyargs)
    parameters = [
        Parameter(arg.arg, type, _default(parsed, arg, type, size), arg in keyword_only, size)
        for arg, (type, size) in zip(arguments, types, strict=True)
    ]
    return parameters, returns


def _check_named_tuples(types: list[Type]) -> None:
    """Raise CompilationError if a signature has two named tuples with equal names and different fields."""
    types_by_name: dict[str, ir.TupleType] = {}
    for type in types:
        if isinstance(type, ir.TupleType) and type.name is not None:
            previous = types_by_name.setdefault(type.name, type)
            if (previous.fields, previous.elems) != (type.fields, type.elems):
                raise CompilationError(f"Can't redefine NamedTuple: {type.name}")


def overload_signature(
    declared: ParsedFunction, implementation: ParsedFunction
) -> tuple[list[Parameter], Type | None]:
    """Return the signature of an overload.

    It has the parameters and return type of the declaration, followed by the parameters that only the
    implementation has. The default values are those of the implementation.
    """
    parameters, returns = signature(declared)
    defaults, implementation.defaults = implementation.defaults, {}
    omitted_parameters = signature(implementation)[0][len(parameters) :]
    implementation.defaults = defaults
    merged_parameters = [
        parameter._replace(
            default=constant_of_type(to_ts(defaults[parameter.name]), parameter.type)
            if parameter.name in defaults
            else NO_DEFAULT
        )
        for parameter in [*parameters, *omitted_parameters]
    ]
    return merged_parameters, returns


def _state_type(parsed: ParsedFunction) -> SizedType | None:
    """Return the type of the parameter of `__setstate__`: the return type of `__getstate__`.

    Return None if `parsed` is another method or the class has no `__getstate__`.
    """
    if parsed.name != "__setstate__" or not isinstance(parsed.self_type, ir.ClassType):
        return None
    saves = parsed.self_type.find_method("__getstate__")
    return None if saves is None else (saves.schema.returns[0].type, None)


def _observed_type(reader: AnnotationParser, parsed: ParsedFunction, name: str) -> SizedType | None:
    """Return the type of parameter `name` in example calls, or None if there were no example calls."""
    annotation = annotation_of(parsed.function, name)
    return None if annotation is None else (reader.read_evaluated(annotation), None)


def _from_comment(parsed: ParsedFunction, count: int) -> tuple[list[SizedType], Type | None]:
    """Return the parameter types and the return type of a comment `# type: (int, Tensor) -> int`."""
    comment = parsed.type_comment
    assert comment is not None
    body = comment.removeprefix("# type:").strip()
    source = Source(comment)
    if not body.startswith("("):
        raise _invalid_type_comment(parsed, comment, source)
    try:
        syntax = python_syntax.function_type(body if "->" in body else f"{body} -> None")
    except SyntaxError:
        comment_range = SourceRange(source, 0, len(comment))
        raise CompilationError(
            "Failed to parse the argument list of a type annotation", comment_range
        ) from None
    start = len(comment) - len(body)
    reader = AnnotationParser(parsed.resolver, _Shifted(source, start))
    if len(syntax.argtypes) != count:
        kind = "function" if parsed.self_type is None else "method"
        raise CompilationError(
            f"Number of type annotations ({len(syntax.argtypes)}) did not match "
            f"the number of {kind} parameters ({count})",
            _header_range(parsed),
        )
    types = [reader.argument(argument) for argument in syntax.argtypes]
    return types, reader.read(syntax.returns) if "->" in body else None


def _invalid_type_comment(parsed: ParsedFunction, comment: str, source: Source) -> CompilationError:
    """Return the error for a type comment without the form `# type: (int, Tensor) -> int`.

    If code precedes the comment, the message names the first token of the line, as in PyTorch.
    """
    advice = "here: the comment is written `# type: (int, Tensor) -> int`"
    lines = parsed.source.text.split("\n")
    line = next((line.strip() for line in lines if line.rstrip().endswith(comment)), comment)
    start = line.find(comment)
    if start <= 0:
        word = re.match(r"# type:\s*(\w*)", comment)
        begin, end = word.span(1) if word is not None and word[1] else (0, len(comment))
        return CompilationError(f"expected ( but found 'ident' {advice}", SourceRange(source, begin, end))
    first = re.match(r"\w+|\S", line)
    token = first[0] if first is not None else line
    kind = "ident" if token.isidentifier() and not keyword.iskeyword(token) else token
    range = SourceRange(Source(line), 0, len(token))
    return CompilationError(f"expected type comment but found '{kind}' {advice}", range)


def _header_range(parsed: ParsedFunction) -> SourceRange:
    """Return the range of a definition's header. In source text, the range starts at the parameters."""
    ranges, node = parsed.ranges, parsed.node
    start = ranges.offset(node.lineno, node.col_offset)
    args = node.args
    children = [
        *args.posonlyargs,
        *args.args,
        *args.kwonlyargs,
        *args.defaults,
        *args.kw_defaults,
        node.returns,
    ]
    node_ends = [
        ranges.offset(child.end_lineno or 1, child.end_col_offset or 0) for child in children if child
    ]
    end = max([start + len("def"), *node_ends])
    if parsed.function is None:
        source_text = ranges.source.text
        start, end = source_text.find("(", start, end), source_text.find(":", end) + 1
    return ranges.between(start, end)


class _Shifted(Ranges):
    """Source ranges of a one-line text that was parsed from offset `start`."""

    def __init__(self, source: Source, start: int) -> None:
        super().__init__(source)
        self.start = start

    def offset(self, line: int, column: int) -> int:
        return self.start + super().offset(line, column)


def _is_mutable(value: object) -> bool:
    """Return whether a default value is a list, dict or set, or a tuple that contains one."""
    if isinstance(value, tuple):
        return any(map(_is_mutable, value))
    return isinstance(value, list | dict | set)


def _default(parsed: ParsedFunction, arg: ast.arg, type: Type, size: int | None) -> object:
    """Return the default of an argument, converted to the argument's type."""
    if arg.arg not in parsed.defaults:
        return NO_DEFAULT
    value = parsed.defaults[arg.arg]
    default_range = parsed.ranges.of(_default_node(parsed, arg) or arg)
    if parsed.function is None and isinstance(value, list):
        # In source text, all calls share a default list. Convert it to a tuple, which calls cannot modify.
        value = tuple(value)
    if _is_mutable(value):
        raise FrontendError(
            "Mutable default parameters are not supported because Python binds them to the function "
            "and they persist across function calls.\n As a workaround, make the default None and "
            f"instantiate the default parameter within the body of the function. Found {value.__class__} "
            f"on parameter {arg.arg}",
            default_range,
        )
    if size is not None and isinstance(value, int | float):
        value = (value,) * size
    converted = constant_of_type(to_ts(value), type)
    if converted is NO_DEFAULT:
        inferred = arg.annotation is None and parsed.type_comment is None
        message = (
            f"Expected a default value of type {type.annotation_str}"
            f'{" (inferred)" * inferred} on parameter "{arg.arg}".'
        )
        if inferred:
            message += (
                f'Because "{arg.arg}" was not annotated with an explicit type '
                "it is assumed to be type 'Tensor'."
            )
        raise FrontendError(message, default_range, hints.default(arg.arg, value, type, inferred))
    return converted


def _check_written_defaults(parsed: ParsedFunction, types: list[Type]) -> None:
    """Check the types of all default values in source text, and report all mismatches in one error."""
    with_default = [
        (arg, type) for arg, type in zip(parsed.arguments, types, strict=True) if arg.arg in parsed.defaults
    ]
    if parsed.type_comment is None and any(arg.annotation is None for arg, _ in with_default):
        missing_range = parsed.ranges.of(next(arg for arg, _ in with_default if arg.annotation is None))
        message = "Keyword arguments with defaults need to be type-hinted (TorchScript C++ frontend)"
        raise FrontendError(message, missing_range)
    default_types = [_type_of_default(parsed.defaults[arg.arg]) for arg, _ in with_default]
    pairs = list(zip(default_types, (type for _, type in with_default), strict=True))
    if all(type is None or type.is_subtype_of(expected) for type, expected in pairs):
        return
    actual = ", ".join((expected if type is None else type).annotation_str for type, expected in pairs)
    annotated = ", ".join(expected.annotation_str for _, expected in pairs)
    raise CompilationError(
        f"Return value was annotated as having type Tuple[{annotated}] "
        f"but is actually of type Tuple[{actual}]",
        _header_range(parsed),
    )


def _type_of_default(value: object) -> Type | None:
    """Return the type of a default in source text, or None for a Python object without script type."""
    if isinstance(value, list) and not value:
        return ir.ListType(ir.TENSOR)
    if isinstance(value, dict) and not value:
        return ir.DictType(ir.STR, ir.TENSOR)
    return type_of_constant(value)


def _default_node(parsed: ParsedFunction, arg: ast.arg) -> ast.expr | None:
    """Return the expression of a parameter's default, or None."""
    args = parsed.node.args
    positional = [*args.posonlyargs, *args.args]
    written = [None] * (len(positional) - len(args.defaults)) + [*args.defaults, *args.kw_defaults]
    return dict(zip([*positional, *args.kwonlyargs], written, strict=True)).get(arg)
