"""Conversion of Python's syntax error messages to PyTorch's messages, which name the expected token.

Input: Python's message and the source text (left). Output: PyTorch's message (right):

    "invalid syntax" at `pass` in `x = 1 pass`     expected newline but found 'pass' here
    "cannot assign to literal here" in `3 = x`     unexpected expression on left-hand side of assignment
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"(?P<string>'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|\"[^\"\n]*\")|(?P<number>\d[\w.]*|\.\d+)|(?P<ident>[^\W\d]\w*)"
    r"|(?P<op>->|\*\*|//|<<|>>|[<>=!+\-*/%|&^]=|\.\.\.|[^\s\w])|(?P<newline>\n)",
    re.DOTALL,
)
_KEYWORDS: Final = frozenset(
    {
        "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "for", "from",
        "global", "if", "import", "in", "is", "not", "or", "pass", "raise", "return", "while", "with",
        "False", "None", "True",
    }
)  # fmt: skip
_VALUES: Final = frozenset({"False", "None", "True"})
_HEADERS: Final = frozenset({"def", "if", "for", "while", "with", "else", "elif", "class"})
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_ASSIGNMENT: Final = "unexpected expression on left-hand side of assignment"


def torchscript_message(message: str, source: str, offset: int) -> str:
    """Convert `message`, an error message of Python's parser, to PyTorch's message.

    `offset` is the character offset in `source` at which the parser found the error.
    """
    if message.startswith("cannot assign to"):
        return f"{_ASSIGNMENT}; {message}"
    if "is an illegal expression for augmented assignment" in message:
        if message.startswith("'tuple'"):
            return f"augmented assignment can only have one LHS expression; {message}"
        return f"unexpected expression on left-hand side of augmented assignment; {message}"
    if message.startswith("expected an indented block"):
        expected = "ident" if "function definition" in message else "indent"
        return f"expected {expected} but found 'newline' here; {message}"
    if message.startswith("unterminated string") or source[offset : offset + 1] in ("$", "!", "`", ";"):
        return f"expected a valid token but found ' ' here; {message}"
    if "was never closed" in message:
        expected = _expected(_tokens(source, len(source)))
        return f"expected {expected} but found 'eof' here; {message}"
    if message not in ("invalid syntax", "invalid decimal literal", "expected ':'"):
        return message
    return (
        f"expected {_expected(_tokens(source, offset))} but found '{_token_name(source, offset)}' here; "
        f"{message}"
    )


def _tokens(source: str, end: int) -> list[tuple[str, str]]:
    """Return the kinds and texts of the tokens before an offset."""
    tokens = []
    for match in _TOKEN.finditer(source):
        if match.start() >= end:
            break
        kind = match.lastgroup or ""
        tokens.append((match[0] if match[0] in _KEYWORDS else kind, match[0]))
    return tokens


def _token_name(source: str, offset: int) -> str:
    """Return the name of the token at an offset."""
    match = _TOKEN.search(source, offset)
    if match is None:
        return "eof"
    if "\n" in source[offset : match.start()] or match.lastgroup == "newline":
        return "newline"
    if match[0] in _KEYWORDS or match.lastgroup == "op":
        return match[0]
    return str(match.lastgroup)


def _expected(tokens: list[tuple[str, str]]) -> str:
    """Return the token that PyTorch's parser expects after `tokens`."""
    open_brackets: list[str] = []
    line: list[tuple[str, str]] = []
    for kind, token in tokens:
        if kind == "op" and token in _CLOSING:
            open_brackets.append(token)
        elif kind == "op" and open_brackets and token == _CLOSING[open_brackets[-1]]:
            open_brackets.pop()
        if kind == "newline" and not open_brackets:
            line = []
        elif kind != "newline":
            line.append((kind, token))
    if not line:
        return "ident"
    kind, token = line[-1]
    is_value = kind in ("string", "number", "ident") or token in _VALUES or token in (")", "]", "}", "...")
    if not is_value and token not in ("pass", "break", "continue"):
        return "ident"
    if open_brackets:
        return _CLOSING[open_brackets[-1]]
    return ":" if line[0][0] in _HEADERS else "newline"
