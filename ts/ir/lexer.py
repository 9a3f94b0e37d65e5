"""Lexer (tokenizer) shared by schemas, graph text and printed source: tokens, numbers, strings.

>>> format_float(3.0), format_float(0.1), quote("a\\n'b'")
('3.', '0.10000000000000001', '"a\\\\n\\\\\\'b\\\\\\'"')
>>> [token for token in TokenStream("Tensor(a!) self, *").texts]
['Tensor', '(', 'a', '!', ')', 'self', ',', '*', '']
"""

from __future__ import annotations

import math
import os
import re
from enum import Enum
from typing import Any, Final

from ts.dtypes import DEFAULT_NAMES
from ts.errors import ParseError

# Detail of tensor types in graph text: 0 no types, 1 types without strides, 2 with strides, 3 also with
# device and requires_grad.
_verbosity = os.environ.get("TS_JIT_TYPE_VERBOSITY") or os.environ.get("PYTORCH_JIT_TYPE_VERBOSITY") or "3"
TYPE_VERBOSITY = int(_verbosity) if _verbosity.isdecimal() else 3

_TOKEN = r"""(?P<skipped>(?:\s+|\#[^\n]*)*)(?:
      (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[^\W\d]\w*(?:(?:::|\.)\w+)*)
    | (?P<sign>->|\.\.\.|\S)
    )"""  # pattern of tokens, compiled on first use

# Maximum number of characters of an int literal: a 64-bit int has 20, and Python rejects more than 4,300
# digits.
_MAX_INT_DIGITS: Final = 40
_ESCAPES = {
    ord("\\"): "\\\\",
    ord("'"): "\\'",
    ord('"'): '\\"',
    7: "\\a",
    8: "\\b",
    9: "\\t",
    10: "\\n",
    11: "\\v",
    12: "\\f",
    13: "\\r",
}
_UNESCAPE = rb"(?s)\\([0-7]{1,3}|x[0-9a-fA-F]{2}|.)"
_SURROGATE = r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
# Character ranges of surrogates, without the surrogates U+DC80 to U+DCFF, which represent invalid UTF-8 bytes
# in the error handler `surrogateescape`
_OTHER = r"\ud800-\udc7f\udd00-\udfff"
_STRING_SECTIONS = rf"(?s)({_SURROGATE}|[{_OTHER}])|((?:\\(?!{_SURROGATE[2:]}).|[^\\{_OTHER}])+)"
_UNESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


class TokenStream:
    """Tokens of a text with a current position. The last token is an empty string."""

    __slots__ = ("at", "comments", "starts", "strings", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.strings: list[str] = []
        self.starts: list[int] = []
        self.comments: dict[int, str] = {}  # index of a token -> comment before the token
        position = 0
        token = re.compile(_TOKEN, re.VERBOSE)
        while match := token.match(text, position):
            kind = match.lastgroup or "sign"
            if "#" in match.group("skipped"):
                self.comments[len(self.strings)] = match.group("skipped")
            self.strings.append(match.group(kind))
            self.starts.append(match.start(kind))
            position = match.end()
        self.strings.append("")
        self.starts.append(len(text))
        if "#" in text[position:]:
            self.comments[len(self.strings) - 1] = text[position:]
        self.at = 0

    def peek(self, offset: int = 0) -> str:
        """Return the token `offset` tokens after the current token, or "" after the end. Consume nothing."""
        return self.strings[min(self.at + offset, len(self.strings) - 1)]

    def next(self) -> str:
        """Consume the current token and return it. Raise ParseError at the end of the text."""
        token = self.strings[self.at]
        if not token:
            raise self.error("unexpected end of text")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        """Consume the current token and return True if it is `token`. Otherwise return False."""
        if self.strings[self.at] != token:
            return False
        self.at += 1
        return True

    def expect(self, token: str) -> None:
        """Consume the current token. Raise ParseError if it is not `token`."""
        if not self.accept(token):
            raise self.error(f"expected {token!r} but found {self.peek()!r}")

    def number(self) -> int | float:
        """Read a number token. A point or an exponent makes it a float."""
        token = self.next()
        try:
            if any(c in token for c in ".eEn"):
                return float(token)
            if len(token) <= _MAX_INT_DIGITS:
                return int(token)
        except ValueError:  # the token contains no digits
            pass
        self.at -= 1
        raise self.error(f"expected a number but found {token[:100]!r}")

    def integer(self) -> int:
        """Consume an integer and return it. Raise ParseError for any other token or number."""
        value = self.number()
        if not isinstance(value, int):
            self.at -= 1
            raise self.error(f"expected an integer but found {self.peek()!r}")
        return value

    def negative(self, value: Any) -> Any:
        """Return `-value`. Raise ParseError if `value` is not a number."""
        if isinstance(value, (int, float, complex)):
            return -value
        raise self.error("expected a number after '-'")

    def string(self) -> str:
        """Read a string literal and return its value."""
        token = self.next()
        if len(token) < 2 or token[0] not in "\"'":
            self.at -= 1
            raise self.error(f"expected a string but found {token!r}")
        return unquote(token)

    def error(self, message: str) -> ParseError:
        """Return, without raising it, a ParseError located at the current token."""
        return ParseError(message, self.text, self.starts[min(self.at, len(self.starts) - 1)])


def is_name(token: str) -> bool:
    """Return True if a token begins with a letter or an underscore."""
    return bool(token) and (token[0].isalpha() or token[0] == "_")


def is_number(token: str) -> bool:
    """Return True if `token` is a numeral, possibly with a sign or a leading decimal point."""
    return bool(token) and (
        token[0].isdigit() or (len(token) > 1 and token[0] in "-." and token != "->" and token != "...")
    )


def format_float(value: float) -> str:
    """Format a float as PyTorch does: ``3.``, else 17 significant digits."""
    if abs(value) < 1e10 and value == int(value):
        sign = "-" if value == 0 and math.copysign(1.0, value) < 0 else ""
        return f"{sign}{int(value)}."
    return f"{value:.17g}"


def format_complex(value: complex) -> str:
    """Format a complex number as PyTorch does: ``0.+1.j``."""
    imaginary = format_float(value.imag)
    sign = "" if imaginary.startswith("-") else "+"
    return f"{format_float(value.real)}{sign}{imaginary}j"


def quote(text: str) -> str:
    """Return a string literal for `text`. Unprintable bytes of its UTF-8 form become escapes such as `\\n`.

    Surrogates that represent invalid UTF-8 bytes (`surrogateescape`) become escapes of these bytes. If `text`
    has other surrogates, all surrogates become escapes such as `\\ud800`, which PyTorch cannot parse.
    """
    try:
        encoded = text.encode("utf-8", "surrogateescape")
        is_bytes = text.isascii() or encoded.decode("utf-8", "surrogateescape") == text
    except UnicodeEncodeError:
        is_bytes = False
    if is_bytes:
        return f'"{_escaped(encoded)}"'
    escaped = (f"\\u{ord(c):x}" if 0xD800 <= ord(c) <= 0xDFFF else _escaped(c.encode()) for c in text)
    return f'"{"".join(escaped)}"'


def _escaped(encoded: bytes) -> str:
    """Return the bytes `encoded` as text of a string literal, in which unprintable bytes are escaped."""
    out = []
    for byte in encoded:
        escape = _ESCAPES.get(byte)
        if escape is not None:
            out.append(escape)
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:03o}")
    return "".join(out)


def unquote(token: str) -> str:
    """Return the value of a string literal."""
    body = token[1:-1]
    if body.isascii() and "\\u" not in body:
        return _unescaped(body)
    return "".join(
        _unescape_surrogate(half) if half else _unescaped(segment)
        for half, segment in re.findall(_STRING_SECTIONS, body)
    )


def _unescape_surrogate(text: str) -> str:
    """Return the surrogate character for `text`, which is this character or an escape such as `\\ud800`."""
    return text if len(text) == 1 else chr(int(text[2:], 16))


def _unescaped(text: str) -> str:
    """Decode the escape sequences of a string literal."""

    def replace(match: re.Match[bytes]) -> bytes:
        code: bytes = match.group(1)
        if code[:1] in b"01234567":
            return bytes([int(code, 8) & 255])
        if code[:1] == b"x" and len(code) == 3:
            return bytes([int(code[1:], 16)])
        return _UNESCAPES.get(code, code)

    encoded = text.encode("utf-8", "surrogateescape")
    return re.sub(_UNESCAPE, replace, encoded).decode("utf-8", "surrogateescape")


def format_default(value: Any) -> str:
    """Format a default value as in schemas."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return format_float(value)
    if isinstance(value, complex):
        return format_complex(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        return f"[{', '.join(map(format_default, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(format_default, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        pairs = (f"{format_default(key)}: {format_default(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Enum):
        return f"Enum<{type(value).__name__}.{value.name}>"
    return str(value)


def is_numeral(name: str) -> bool:
    """Return True if `name` is the number of an unnamed value."""
    return name.isdigit() and name.isascii() and len(name) <= _MAX_INT_DIGITS


def read_default(tokens: TokenStream, is_float: bool = False) -> Any:
    """Read a default value of a schema. If `is_float`, convert a number to float."""
    token = tokens.peek()
    if token[:1] in ("'", '"'):
        return tokens.string()
    if is_number(token):
        return float(tokens.number()) if is_float else tokens.number()
    tokens.next()
    if token in ("[", "("):
        values = []
        while not tokens.accept("]" if token == "[" else ")"):
            values.append(read_default(tokens))
            tokens.accept(",")
        return values if token == "[" else tuple(values)
    if token == "{":
        pairs = {}
        while not tokens.accept("}"):
            key = read_default(tokens)
            if isinstance(key, list | dict):
                raise tokens.error(f"a {key.__class__.__name__} cannot be a key of a dict")
            tokens.expect(":")
            pairs[key] = read_default(tokens)
            tokens.accept(",")
        return pairs
    if token == "-":
        return tokens.negative(read_default(tokens, is_float))
    if token in ("inf", "nan"):
        return float(token)
    if token in DEFAULT_NAMES:
        return DEFAULT_NAMES[token]
    tokens.at -= 1
    raise tokens.error(f"{token!r} is not a default value")
