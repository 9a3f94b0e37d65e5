"""A model in a child: bytes of requests to bytes of answers, several at once.

In: requests as they came, undecoded.  Out: for each a status, a body and the seconds of the processor that it
took; or that it must run again, by itself, and why:

    [{"status": 200, "type": "application/json", "seconds": 0.001}, {"apart": "slow", "seconds": 0.1}]

They run one after the other, or stacked: those that fit together are joined along the first dimension of
their tensors, run as one and cut apart.  Where anything goes wrong with that, nobody's request fails: each
runs alone.  Each has little time; who needs more is "slow", and comes back to have all of it.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import ts
from ts.errors import (
    LimitExceeded,
    MemoryExceeded,
    ScriptRuntimeError,
    TimeExceeded,
    TsError,
    without_stack,
)
from ts.ir.schema import Argument
from ts.runtime.limits import limits
from ts.runtime.module import method_names
from ts.serve.payload import BadInput, TooLarge, body_of, inputs_of

TYPES: Final = {"json": "application/json", "npz": "application/x-npz"}
_GROWN: Final = 256 << 20  # bytes by which a process may grow before another one takes its place
_MOST_TOLD: Final = 2_000  # characters of an error
_OF_DTYPES: Final = re.compile(r"\bd(ata)?type|\bLong\b|LongTensor|long int|scalar type", re.IGNORECASE)

Answer = dict[str, Any]
Inputs = dict[str, Any] | Exception  # arguments by name, or why there are none


class Apart(Exception):
    """Requests that do not run as one."""


def error_body(status: int, code: str, message: str) -> bytes:
    """The one form that errors have."""
    return json.dumps({"error": {"status": status, "code": code, "message": message[:_MOST_TOLD]}}).encode()


def again(head: dict[str, Any], used: float) -> Answer | None:
    """What to say of what was not done in time: that it must run again, and why; None if it need not.

    It is slow, or it was late, as others had the processor.  Who has had all of its time is not asked back
    unless it was late, and that once.
    """
    why = "slow" if used > head["seconds"] / 2 else "late"
    is_done = head["final"] or (head["last"] and why == "slow")
    return None if is_done else {"apart": why}


class Model:
    """A method of an archive."""

    def __init__(self, module: Any, method: str, path: str, bytes: int, answer: int) -> None:
        self._function = getattr(module, method)
        self._module = module
        self._name = Path(path).name
        self._method = method
        self.bytes = bytes
        self._most = answer
        self.arguments: Sequence[Argument] = self._function.schema.arguments[1:]
        self._at_start = 0

    @classmethod
    def load(cls, path: str, method: str, *, seconds: float, bytes: int, answer: int = 64 << 20) -> Model:
        """Read an archive; nothing of it runs."""
        module = ts.jit.load(path, limits=limits(seconds=max(seconds, 600.0), bytes=bytes))
        if hasattr(module, "training"):
            module.eval()
        if method not in method_names(module):
            known = ", ".join(method_names(module)) or "nothing"
            raise ValueError(f"the model has no method {method!r}; it has: {known}")
        model = cls(module, method, path, bytes, answer)
        model._function.bytecode  # noqa: B018 -- compiled and lowered once, for all children
        return model

    def description(self) -> dict[str, Any]:
        """What it takes and gives."""
        schema = self._function.schema
        inputs = [
            {"name": each.name, "type": each.type.annotation_str, "optional": bool(each.has_default)}
            for each in self.arguments
        ]
        outputs = [each.type.annotation_str for each in schema.returns]
        return {"model": self._name, "method": self._method, "inputs": inputs, "outputs": outputs}

    def has_grown(self) -> bool:
        """Whether this process has taken memory that it may not give back."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        self._at_start = self._at_start or peak
        return peak - self._at_start > _GROWN

    # ---- requests ------------------------------------------------------------------------------------

    def answer(
        self, head: dict[str, Any], bodies: Sequence[bytes], end_after: Callable[[float], None]
    ) -> tuple[list[Answer], list[bytes]]:
        """Answers, and their bodies; `end_after` is told how long what begins now may take."""
        kinds, seconds = head["kinds"], head["seconds"]
        if not self._at_start:
            self.has_grown()
        end_after(seconds)
        given = [self._inputs(body, kind) for body, (kind, _) in zip(bodies, kinds, strict=True)]
        answers: list[Answer] = []
        parts: list[bytes] = []
        size = 0
        with limits(bytes=self.bytes), ts.no_grad():
            results = self._together(given, seconds, end_after) if head["stack"] else {}
            for i, inputs in enumerate(given):
                start = time.process_time()
                if i not in results:
                    end_after(seconds)
                    results[i] = self._alone(inputs, seconds)
                if size > self._most:  # so many at once are too much for who gets them
                    answer, body = {"apart": "large"}, b""
                elif isinstance(results[i], TimeExceeded) and (
                    asked := again(head, time.process_time() - start)
                ):
                    answer, body = asked, b""
                else:
                    answer, body = self._answer(results[i], kinds[i][1], _whole(inputs, kinds[i][0]))
                del results[i]
                size += len(body)
                answers.append(answer | {"seconds": time.process_time() - start})
                parts.append(body)
        end_after(0)
        return answers, parts

    def _inputs(self, body: bytes, kind: str) -> Inputs:
        try:
            return inputs_of(body, kind, self.arguments, bytes=self.bytes)
        except Exception as error:
            return error

    def _answer(self, result: Any, kind: str, whole: Sequence[str]) -> tuple[Answer, bytes]:
        if isinstance(result, Exception):
            return _failure(result, whole)
        try:
            return {"status": 200, "type": TYPES[kind]}, body_of(result, kind, most=self._most)
        except Exception as error:
            return _failure(error)

    def _alone(self, inputs: Inputs, seconds: float) -> Any:
        """The result, or the error."""
        if isinstance(inputs, Exception):
            return inputs
        try:
            with limits(seconds=seconds):
                return self._function(**inputs)
        except Exception as error:
            return error

    def _together(
        self, given: Sequence[Inputs], seconds: float, end_after: Callable[[float], None]
    ) -> dict[int, Any]:
        """Results of requests that run as one; nothing of those that do not."""
        groups: dict[Any, list[int]] = {}
        for i, inputs in enumerate(given):
            if not isinstance(inputs, Exception):
                groups.setdefault(_kind(inputs, i), []).append(i)
        found: dict[int, Any] = {}
        for members in groups.values():
            if len(members) > 1:
                end_after(seconds)
                try:
                    results = self._group([given[i] for i in members], seconds)
                except Exception:  # whose it is nobody knows: each runs alone, and is told its own
                    continue
                found.update(zip(members, results, strict=True))
        return found

    def _group(self, given: Sequence[Any], seconds: float) -> list[Any]:
        """Results of requests of one kind, which run as one."""
        with limits(seconds=seconds):
            stacked = {
                name: ts.cat([each[name] for each in given]) if isinstance(value, ts.Tensor) else value
                for name, value in given[0].items()
            }
            return _cut(self._function(**stacked), [_rows(each) for each in given])


def _kind(inputs: dict[str, Any], number: int) -> Any:
    """What requests that run as one have in common; of one that can only run by itself, its number."""
    rows = None
    parts: list[Any] = []
    for name, value in inputs.items():
        if isinstance(value, ts.Tensor):
            if value.dim() == 0 or (rows is not None and value.size(0) != rows):
                return number
            rows = value.size(0)
            parts.append((name, value.dtype, tuple(value.shape[1:])))
        elif isinstance(value, bool | int | float | str | None):
            parts.append((name, type(value), value))
        else:
            return number
    return tuple(parts) if rows else number


def _rows(inputs: dict[str, Any]) -> int:
    return int(next(value.size(0) for value in inputs.values() if isinstance(value, ts.Tensor)))


def _cut(result: Any, rows: list[int]) -> list[Any]:
    """A result of all rows as one for each request."""
    match result:
        case ts.Tensor():
            if result.dim() == 0 or result.size(0) != sum(rows):
                raise Apart
            return list(result.split(rows))
        case dict():
            columns = {key: _cut(value, rows) for key, value in result.items()}
            return [{key: column[i] for key, column in columns.items()} for i in range(len(rows))]
        case tuple() | list():
            parts = [_cut(value, rows) for value in result]
            made = [[part[i] for part in parts] for i in range(len(rows))]
            if hasattr(result, "_fields"):
                return [type(result)(*each) for each in made]
            return [type(result)(each) for each in made]
        case None:
            return [None] * len(rows)
    raise Apart


def _whole(inputs: Inputs, kind: str) -> list[str]:
    """The names of tensors that were whole numbers in JSON."""
    if kind != "json" or isinstance(inputs, Exception):
        return []
    return [name for name, x in inputs.items() if isinstance(x, ts.Tensor) and x.dtype == ts.int64]


def _failure(error: Exception, whole: Sequence[str] = ()) -> tuple[Answer, bytes]:
    status, code, message = 500, "internal", f"{type(error).__name__}: {without_stack(str(error))}"
    match error:
        case BadInput():
            status, code, message = 400, "bad_input", str(error)
        case TooLarge():
            status, code, message = 413, "too_large", str(error)
        case TimeExceeded():
            status, code, message = 504, "too_long", "the model took more time than a request may have"
        case MemoryExceeded() | MemoryError():
            status, code, message = (
                507,
                "too_much_memory",
                "the model needs more memory than a request may have",
            )
        case LimitExceeded():
            status, code, message = 507, "limit", error.message or str(error)
        case ScriptRuntimeError():
            status, code, message = (
                422,
                "failed",
                f"{error.class_name.removeprefix('builtins.')}: {error.message}",
            )
        case TsError() | RuntimeError() | ValueError() | TypeError() | IndexError():
            status, code = 422, "failed"
    if code == "failed" and whole and _OF_DTYPES.search(message):
        message += (
            f" (whole numbers are int64, here {', '.join(whole)}: where the model wants floats write 1.0, "
            'or {"data": ..., "dtype": "float32"})'
        )
    return {"status": status, "type": TYPES["json"]}, error_body(status, code, message)
