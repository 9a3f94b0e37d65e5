"""Schema parser and printer for operator schemas, the signatures of operators and scripted functions.

Input: text in PyTorch's notation. Output: a `FunctionSchema`, whose ``str`` is the same text::

    >>> s = parse_schema("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
    >>> s.key, s.is_mutable, [a.name for a in s.arguments]
    ('aten::add_.Tensor', True, ['self', 'other', 'alpha'])
    >>> s.arguments[0].alias.before, s.arguments[2].default
    (frozenset({'a'}), 1)
    >>> str(s)
    'aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)'

``ScalarType``, ``Layout``, ``MemoryFormat`` and ``SymInt`` are ints at run time. The `type` of such an
argument is ``int``, and its `real_type` is the type in the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ts.errors import ParseError
from ts.ir.attributes import is_tensor
from ts.ir.lexer import TokenStream, format_default, is_name, read_default
from ts.ir.print_tensor import tensor_lines
from ts.ir.type_parser import AliasInfo, parse_type, plain, read_type
from ts.ir.types import FLOAT, INT, TENSOR, ListType, OptionalType, TupleType, Type

__all__ = ["AliasInfo", "Argument", "FunctionSchema", "parse_schema", "parse_type"]


class Argument:
    """Argument or result of a schema."""

    __slots__ = ("alias", "default", "has_default", "kwarg_only", "name", "real_type", "size", "type")

    def __init__(
        self,
        name: str,
        type: Type,
        default: Any = None,
        has_default: bool = False,
        kwarg_only: bool = False,
        alias: AliasInfo | None = None,
        size: int | None = None,
        real_type: Type | None = None,
    ) -> None:
        self.name = name
        self.type = type
        self.real_type = type if real_type is None else real_type
        self.default = default
        self.has_default = has_default
        self.kwarg_only = kwarg_only
        self.alias = alias
        self.size = size

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments of the constructor, for `pickle` and `copy`."""
        fields = (self.name, self.type, self.default, self.has_default, self.kwarg_only, self.alias)
        return Argument, (*fields, self.size, self.real_type)

    @property
    def default_value(self) -> Any:
        """Default value, which is None for required arguments as well (see `has_default_value`)."""
        return self.default

    @property
    def alias_info(self) -> AliasInfo | None:
        """Alias annotation of the type, or None without an annotation."""
        return self.alias

    @property
    def N(self) -> int | None:
        """Fixed length of a list argument, such as 2 for ``int[2]``, or None if any length is valid."""
        return self.size

    def has_default_value(self) -> bool:
        """Return True if calls may omit the argument. Its default may be None."""
        return self.has_default

    @property
    def is_write(self) -> bool:
        """True if the operator writes to the argument or to its contents."""
        return self.alias is not None and _writes(self.alias)

    @property
    def is_out(self) -> bool:
        """True for keyword-only arguments that the operator writes, such as `out`."""
        return self.kwarg_only and self.is_write

    def accepts(self, old: Argument) -> bool:
        """Return True if this argument can replace argument `old` and all calls remain valid."""
        if self.name != old.name or (self.kwarg_only and not old.kwarg_only):
            return False
        if old.has_default and (not self.has_default or self.default != old.default):
            return False
        return old.type.is_subtype_of(self.type)

    def with_type(self, type: Type) -> Argument:
        """Return a copy of the argument with another type."""
        return Argument(
            self.name, type, self.default, self.has_default, self.kwarg_only, self.alias, self.size
        )

    def __str__(self) -> str:
        rendered = _format_type(self.real_type, self.alias, self.size)
        if self.name:
            rendered += f" {self.name}"
        if self.has_default:
            is_undefined = self.default is None and self.type.is_subtype_of(TENSOR)
            default = "[ Tensor (undefined) ]" if is_undefined else self._format_default()
            rendered += f"={default}"
        return rendered

    def _format_default(self) -> str:
        if is_tensor(self.default):
            return "\n".join(tensor_lines(self.default))
        return format_default(self._printed_default())

    def _printed_default(self) -> Any:
        # PyTorch prints a default [1, 1] of type int[2] as `int[2] stride=1`, but has no such short form for
        # SymInt[].
        default = self.default
        if self.size is not None and isinstance(default, list) and len(default) > 1:
            elem = self.real_type.elem if isinstance(self.real_type, ListType) else None
            if elem == INT and all(x == default[0] for x in default):
                return default[0]
        return default

    def __repr__(self) -> str:
        return f"Argument({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Argument) and str(self) == str(other) and self.kwarg_only == other.kwarg_only

    def __hash__(self) -> int:
        return hash((self.name, self.real_type))


def _split_outputs(schema: FunctionSchema) -> tuple[list[Argument], list[Argument]]:
    """Return the arguments that are not outputs, and the `out=` arguments."""
    outputs = [argument for argument in schema.arguments if argument.is_out]
    return [argument for argument in schema.arguments if not argument.is_out], outputs


def _writes(alias: AliasInfo) -> bool:
    return alias.is_write or any(map(_writes, alias.contained))


class FunctionSchema:
    """Signature of a function. `key` is the name with the overload name: ``aten::add.Tensor``."""

    __slots__ = (
        "_text",
        "arguments",
        "is_mutable",
        "is_vararg",
        "is_varret",
        "name",
        "overload_name",
        "returns",
    )

    def __init__(
        self,
        name: str,
        overload_name: str = "",
        arguments: Iterable[Argument] = (),
        returns: Iterable[Argument] = (),
        is_vararg: bool = False,
        is_varret: bool = False,
    ) -> None:
        self.name = name
        self.overload_name = overload_name
        self.arguments = list(arguments)
        self.returns = list(returns)
        self.is_vararg = is_vararg
        self.is_varret = is_varret
        self.is_mutable = any(a.alias is not None and _writes(a.alias) for a in self.arguments)
        self._text = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments of the constructor, for `pickle` and `copy`."""
        fields = (self.name, self.overload_name, self.arguments, self.returns, self.is_vararg, self.is_varret)
        return FunctionSchema, fields

    @property
    def key(self) -> str:
        """Name with the overload name, such as ``aten::add.Tensor``."""
        return f"{self.name}.{self.overload_name}" if self.overload_name else self.name

    def argument_index(self, name: str) -> int:
        """Return the index of the argument called `name`, or -1."""
        for i, argument in enumerate(self.arguments):
            if argument.name == name:
                return i
        return -1

    def is_subtype_of(self, other: FunctionSchema, as_method: bool = False) -> bool:
        """Return True if this schema can replace `other`. If `as_method`, ignore the first argument."""
        skip = 1 if as_method else 0
        own_arguments, other_arguments = self.arguments[skip:], other.arguments[skip:]
        if (self.is_vararg, self.is_varret) != (other.is_vararg, other.is_varret):
            return False
        if len(own_arguments) != len(other_arguments) or len(self.returns) != len(other.returns):
            return False
        for a, b in zip(own_arguments, other_arguments, strict=True):
            if a.name != b.name or a.kwarg_only != b.kwarg_only or not b.type.is_subtype_of(a.type):
                return False
            if b.has_default and (not a.has_default or a.default != b.default):
                return False
        return all(a.type.is_subtype_of(b.type) for a, b in zip(self.returns, other.returns, strict=True))

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """Return True if each valid call of `old` is also a valid call of this schema.

        Arguments that `old` does not have must have defaults. The other arguments must have the same name,
        position and default as in `old`, but may have a wider type. A keyword-only argument of `old` may be
        positional here.
        """
        if self.key != old.key or (self.is_vararg, self.is_varret) != (old.is_vararg, old.is_varret):
            return False
        if len(self.returns) != len(old.returns):
            return False
        if not all(a.type.is_subtype_of(b.type) for a, b in zip(self.returns, old.returns, strict=True)):
            return False
        (new_arguments, new_outputs), (old_arguments, old_outputs) = _split_outputs(self), _split_outputs(old)
        if len(new_arguments) < len(old_arguments) or len(new_outputs) != len(old_outputs):
            return False
        pairs = (
            *zip(new_arguments, old_arguments, strict=False),
            *zip(new_outputs, old_outputs, strict=True),
        )
        return all(a.accepts(b) for a, b in pairs) and all(
            a.has_default for a in new_arguments[len(old_arguments) :]
        )

    def with_name(self, name: str) -> FunctionSchema:
        """Return a copy of the schema under another name, with the same overload name."""
        return FunctionSchema(
            name, self.overload_name, self.arguments, self.returns, self.is_vararg, self.is_varret
        )

    def __str__(self) -> str:
        if not self._text:
            self._text = self._spell()
        return self._text

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.name, self.overload_name))

    def _spell(self) -> str:
        arguments = []
        kwarg_only = False
        for argument in self.arguments:
            if argument.kwarg_only and not kwarg_only:
                arguments.append("*")
                kwarg_only = True
            arguments.append(str(argument))
        if self.is_vararg:
            arguments.append("...")
        returns = [str(r) for r in self.returns]
        if self.is_varret:
            returns.append("...")
        result = ", ".join(returns)
        # A single tuple result is printed in double parentheses, to distinguish it from several results.
        if len(returns) != 1 or result.startswith("("):
            result = f"({result})"
        return f"{self.key}({', '.join(arguments)}) -> {result}"


def _format_type(t: Type, alias: AliasInfo | None, size: int | None) -> str:
    """Return the text of a type with alias annotations and list size, as in schemas."""
    if alias is None and size is None:
        return t.schema_str
    if isinstance(t, OptionalType):
        return _format_type(t.elem, alias, size) + "?"
    if isinstance(t, ListType):
        inner = alias.contained[0] if alias is not None and alias.contained else None
        spelling = f"{_format_type(t.elem, inner, None)}[{'' if size is None else size}]"
    elif isinstance(t, TupleType) and alias is not None and len(alias.contained) == len(t.elems):
        pairs = zip(t.elems, alias.contained, strict=True)
        spelling = f"({', '.join(_format_type(elem, inner, None) for elem, inner in pairs)})"
    else:
        spelling = t.schema_str
    return spelling + alias.text if alias is not None else spelling


# --- parsing of schemas -----------------------------------------------------------------------------


def parse_schema(schema_text: str) -> FunctionSchema:
    """Parse a schema."""
    head, opening, _ = schema_text.partition("(")
    if not opening:
        raise ParseError("expected '(' after the operator's name", schema_text, len(schema_text))
    name, _, overload = head.strip().partition(".") if "::" in head else (head.strip(), "", "")
    end = _end_of_parenthesis(schema_text, len(head))
    result = schema_text[end + 1 :].strip()
    if not result.startswith("->"):
        raise ParseError("expected '->' after the arguments", schema_text, min(end + 1, len(schema_text)))
    arguments, is_vararg = _parse_arguments(schema_text[len(head) + 1 : end])
    returns, is_varret = _parse_returns(result[2:].strip())
    return FunctionSchema(name, overload, arguments, returns, is_vararg, is_varret)


def _end_of_parenthesis(schema_text: str, opening: int) -> int:
    depth = 0
    quoted = escaped = False
    for i in range(opening, len(schema_text)):
        c = schema_text[i]
        if quoted:
            quoted = escaped or c != '"'
            escaped = c == "\\" and not escaped
        elif c == '"':
            quoted = True
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return i
    raise ParseError("a parenthesis is not closed", schema_text, opening)


def _split(list_text: str) -> list[str]:
    """Split a text at commas outside brackets and strings."""
    if not any(c in list_text for c in '(["'):
        return list_text.split(",") if list_text.strip() else []
    pieces = []
    depth = begin = 0
    quoted = escaped = False
    for i, c in enumerate(list_text):
        if quoted:
            quoted = escaped or c != '"'
            escaped = c == "\\" and not escaped
        elif c == '"':
            quoted = True
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            pieces.append(list_text[begin:i])
            begin = i + 1
    pieces.append(list_text[begin:])
    return pieces


def _parse_arguments(list_text: str) -> tuple[list[Argument], bool]:
    arguments: list[Argument] = []
    kwarg_only = is_vararg = False
    for piece in _split(list_text):
        piece = piece.strip()
        if piece == "*":
            kwarg_only = True
        elif piece == "...":
            is_vararg = True
        else:
            arguments.append(_parse_argument(piece, kwarg_only))
    return arguments, is_vararg


def _parse_returns(list_text: str) -> tuple[list[Argument], bool]:
    if list_text == "...":
        return [], True
    if list_text.startswith("(") and _end_of_parenthesis(list_text, 0) == len(list_text) - 1:
        pieces = [piece.strip() for piece in _split(list_text[1:-1])]
        is_varret = bool(pieces) and pieces[-1] == "..."
        return [_parse_argument(piece, False) for piece in pieces[: -1 if is_varret else None]], is_varret
    return [_parse_argument(list_text, False)], False


@lru_cache(maxsize=4096)
def _parse_argument(argument_text: str, kwarg_only: bool) -> Argument:
    """Parse an argument or result of a schema. Equal texts give the same object, because it is immutable."""
    tokens = TokenStream(argument_text)
    parsed = read_type(tokens)
    name = tokens.next() if is_name(tokens.peek()) else ""
    default: Any = None
    has_default = tokens.accept("=")
    t = plain(parsed.type)
    if has_default:
        default = read_default(tokens, t is FLOAT)
        if (
            parsed.size is not None
            and isinstance(t, ListType)
            and not isinstance(default, list)
            and default is not None
        ):
            default = [default] * parsed.size
    if tokens.peek():
        raise tokens.error(f"unexpected {tokens.peek()!r} in an argument")
    return Argument(name, t, default, has_default, kwarg_only, parsed.alias, parsed.size, parsed.type)
