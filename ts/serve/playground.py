"""Formats of the requests and errors of the playground's `POST /run`.

`validate_program` checks the body of a request, such as `{"source": "def f() -> int: ...", "call": "f()"}`.
If a worker process is killed, `killed_report` returns the report of its program. The format of reports is
that of `ts.serve.sandboxed_program`. Each program runs in a separate worker process.
"""

from __future__ import annotations

import json
from typing import Final

from ts.serve.server_limits import HTTPError

_MAX_REQUEST_BYTES: Final = 256 << 10


def validate_program(body: bytes) -> bytes:
    """Return the JSON of `source` and `call` in a request.

    Raise HTTPError unless both are valid strings.
    """
    if len(body) > _MAX_REQUEST_BYTES:
        raise HTTPError(413, "too_large", "the program is too long")
    try:
        request = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise HTTPError(400, "bad_input", "the body is not JSON") from None
    if isinstance(request, dict) and set(request) <= {"source", "call"}:
        source, call = request.get("source"), request.get("call", "")
        if isinstance(source, str) and isinstance(call, str) and _is_valid_text(source + call):
            return json.dumps({"source": source, "call": call}).encode()
    raise HTTPError(400, "bad_input", 'expected {"source": "def f(): ...", "call": "f()"}')


def killed_report() -> bytes:
    """Return the JSON report of a program whose worker process was killed."""
    message = "the process of the program was killed: it exceeded its time or memory limit"
    error = {"kind": "Ended", "message": message, "text": "", "line": 0}
    return json.dumps(
        {"functions": [], "result": None, "output": "", "error": error, "seconds": None}
    ).encode()


def _is_valid_text(string: str) -> bool:
    try:
        string.encode()
    except UnicodeEncodeError:  # the text contains lone surrogates
        return False
    return "\0" not in string
