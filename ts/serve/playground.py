"""Requests to the playground: what they ask for, and what they are told when there is no answer.

    body = program(b'{"source": "def f() -> int: ...", "call": "f()"}')     Refusal if it is no program
    answer = ended()                      JSON, as `ts.serve.sandboxed_program` tells it, of one that was ended

Each program runs in a process of its own, which lives for nothing else.
"""

from __future__ import annotations

import json
from typing import Final

from ts.serve.server_limits import Refusal

_MOST: Final = 256 << 10  # bytes of a request


def program(body: bytes) -> bytes:
    """The body, when it holds a program and a call; both are texts."""
    if len(body) > _MOST:
        raise Refusal(413, "too_large", "the program is too long")
    try:
        found = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise Refusal(400, "bad_input", "the body is not JSON") from None
    if isinstance(found, dict) and set(found) <= {"source", "call"}:
        source, call = found.get("source"), found.get("call", "")
        if isinstance(source, str) and isinstance(call, str) and _is_text(source + call):
            return json.dumps({"source": source, "call": call}).encode()
    raise Refusal(400, "bad_input", 'expected {"source": "def f(): ...", "call": "f()"}')


def ended() -> bytes:
    """What there is to say of a program whose process has ended."""
    message = "the process of the program was ended: it took too much time, or more memory than there is"
    error = {"kind": "Ended", "message": message, "text": "", "line": 0}
    return json.dumps(
        {"functions": [], "result": None, "output": "", "error": error, "seconds": None}
    ).encode()


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # halves of characters
        return False
    return "\0" not in text
