"""Batched inference in a worker process: decode requests, run the model, encode responses.

Input: the undecoded bodies of a batch of requests. Output: for each request, the status and the body, or the
reason for a retry. `seconds` is processor time:

    [{"status": 200, "type": "application/json", "seconds": 0.001}, {"retry": "slow", "seconds": 0.1}]

Requests run one after the other, or stacked. Stacking concatenates tensors with equal dtypes and trailing
sizes along the first dimension, and splits the result. If a stacked call fails, each of its requests runs
alone. The scheduler retries requests that exceed the short time limit of the batch.
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
from ts.serve.payload import InvalidInputError, ResponseTooLargeError, decode_inputs, encode_response

TYPES: Final = {"json": "application/json", "npz": "application/x-npz"}
# Growth of peak memory above which a worker is replaced
_MAX_MEMORY_GROWTH_BYTES: Final = 256 << 20
_MAX_ERROR_CHARS: Final = 2_000
_DTYPE_ERROR_PATTERN: Final = re.compile(
    r"\bd(ata)?type|\bLong\b|LongTensor|long int|scalar type", re.IGNORECASE
)

Result = dict[str, Any]
Inputs = dict[str, Any] | Exception  # arguments by name, or the error of decoding them


class CannotBatchError(Exception):
    """Raised if the result of a stacked call cannot be split by request."""


def error_body(status: int, code: str, message: str) -> bytes:
    """Return the JSON body of an error response."""
    fields = {"status": status, "code": code, "message": message[:_MAX_ERROR_CHARS]}
    return json.dumps({"error": fields}).encode()


def retry_result(header: dict[str, Any], used: float) -> Result | None:
    """Return the retry result of a request that exceeded its time limit, or None for no retry.

    `used` is the processor time of the request in seconds. The reason for the retry is "slow" if `used` is
    more than half of the limit. Otherwise, other processes occupied the processor, and the reason is "late".
    After an attempt with the full limit, a request is retried only for the reason "late", and only once.
    """
    reason = "slow" if used > header["seconds"] / 2 else "late"
    is_final = header["final"] or (header["last"] and reason == "slow")
    return None if is_final else {"retry": reason}


class ServedModel:
    """Method of an archived module, with its limits of memory and response size."""

    def __init__(
        self, module: Any, method: str, path: str, max_memory_bytes: int, max_response_bytes: int
    ) -> None:
        self._function = getattr(module, method)
        self._module = module
        self._name = Path(path).name
        self._method = method
        self.max_memory_bytes = max_memory_bytes
        self._max_response_bytes = max_response_bytes
        self.arguments: Sequence[Argument] = self._function.schema.arguments[1:]
        self._initial_peak_bytes = 0

    @classmethod
    def load(
        cls, path: str, method: str, *, seconds: float, bytes: int, answer: int = 64 << 20
    ) -> ServedModel:
        """Load the module in the archive at `path`, without executing the archive's Python code.

        `bytes` limits the memory of a call, and `answer` limits the size of a response, both in bytes. Raise
        ValueError if the module has no method `method`.
        """
        module = ts.jit.load(path, limits=limits(seconds=max(seconds, 600.0), bytes=bytes))
        if hasattr(module, "training"):
            module.eval()
        if method not in method_names(module):
            available = ", ".join(method_names(module)) or "nothing"
            raise ValueError(f"the model has no method {method!r}; it has: {available}")
        model = cls(module, method, path, bytes, answer)
        model._function.bytecode  # noqa: B018 -- compiled once, before workers are forked
        return model

    def description(self) -> dict[str, Any]:
        """Return the names and types of the inputs and outputs of the method."""
        schema = self._function.schema
        inputs = [
            {"name": each.name, "type": each.type.annotation_str, "optional": bool(each.has_default)}
            for each in self.arguments
        ]
        outputs = [each.type.annotation_str for each in schema.returns]
        return {"model": self._name, "method": self._method, "inputs": inputs, "outputs": outputs}

    def exceeds_memory_growth(self) -> bool:
        """Return True if the peak memory has grown by more than the permitted growth.

        The growth is relative to the peak at the first call.
        """
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        self._initial_peak_bytes = self._initial_peak_bytes or peak
        return peak - self._initial_peak_bytes > _MAX_MEMORY_GROWTH_BYTES

    def run_batch(
        self, header: dict[str, Any], bodies: Sequence[bytes], set_cpu_time_limit: Callable[[float], None]
    ) -> tuple[list[Result], list[bytes]]:
        """Return the results of a batch and the bodies of the responses.

        `set_cpu_time_limit` restarts the processor-time limit of the process before each call of the model.
        """
        kinds, seconds = header["kinds"], header["seconds"]
        if not self._initial_peak_bytes:
            self.exceeds_memory_growth()
        set_cpu_time_limit(seconds)
        batch = [self._decode(body, kind) for body, (kind, _) in zip(bodies, kinds, strict=True)]
        results: list[Result] = []
        response_bodies: list[bytes] = []
        size = 0
        with limits(bytes=self.max_memory_bytes), ts.no_grad():
            values = self._run_stacked(batch, seconds, set_cpu_time_limit) if header["stack"] else {}
            for i, inputs in enumerate(batch):
                start = time.process_time()
                if i not in values:
                    set_cpu_time_limit(seconds)
                    values[i] = self._run_single_request(inputs, seconds)
                # The message has no space for this response. The HTTP process sends this request and the
                # following ones again.
                if size > self._max_response_bytes:
                    result, body = {"retry": "large"}, b""
                elif isinstance(values[i], TimeExceeded) and (
                    retry := retry_result(header, time.process_time() - start)
                ):
                    result, body = retry, b""
                else:
                    names = _int64_json_inputs(inputs, kinds[i][0])
                    result, body = self._encode(values[i], kinds[i][1], names)
                del values[i]
                size += len(body)
                results.append(result | {"seconds": time.process_time() - start})
                response_bodies.append(body)
        set_cpu_time_limit(0)
        return results, response_bodies

    def _decode(self, body: bytes, kind: str) -> Inputs:
        try:
            return decode_inputs(body, kind, self.arguments, max_bytes=self.max_memory_bytes)
        except Exception as error:
            return error

    def _encode(self, value: Any, kind: str, int64_names: Sequence[str]) -> tuple[Result, bytes]:
        if isinstance(value, Exception):
            return _error_result(value, int64_names)
        try:
            body = encode_response(value, kind, max_bytes=self._max_response_bytes)
            return {"status": 200, "type": TYPES[kind]}, body
        except Exception as error:
            return _error_result(error)

    def _run_single_request(self, inputs: Inputs, seconds: float) -> Any:
        """Call the model for one request, and return the value or the exception."""
        if isinstance(inputs, Exception):
            return inputs
        try:
            with limits(seconds=seconds):
                return self._function(**inputs)
        except Exception as error:
            return error

    def _run_stacked(
        self, batch: Sequence[Inputs], seconds: float, set_cpu_time_limit: Callable[[float], None]
    ) -> dict[int, Any]:
        """Run groups of requests in stacked calls.

        Return a dict from the index of a request in the batch to its value.

        Requests that cannot be stacked, and requests of failed calls, are not in the dict. They must run
        alone.
        """
        groups: dict[Any, list[int]] = {}
        for i, inputs in enumerate(batch):
            if not isinstance(inputs, Exception):
                groups.setdefault(_stacking_key(inputs, i), []).append(i)
        values: dict[int, Any] = {}
        for members in groups.values():
            if len(members) > 1:
                set_cpu_time_limit(seconds)
                try:
                    group_values = self._run_group([batch[i] for i in members], seconds)
                # The request that caused the error is unknown.
                except Exception:
                    continue
                values.update(zip(members, group_values, strict=True))
        return values

    def _run_group(self, group: Sequence[Any], seconds: float) -> list[Any]:
        """Concatenate tensors of requests with equal stacking keys, run one call, and split its result."""
        with limits(seconds=seconds):
            stacked = {
                name: ts.cat([each[name] for each in group]) if isinstance(value, ts.Tensor) else value
                for name, value in group[0].items()
            }
            return _split_rows(self._function(**stacked), [_row_count(each) for each in group])


def _stacking_key(inputs: dict[str, Any], index: int) -> Any:
    """Return the stacking key of a request, or `index` if it must run alone.

    Requests with equal keys are stacked. The key contains the name, dtype and trailing sizes of each tensor.
    For each other argument, it contains the name, type and value.
    """
    rows = None
    key: list[Any] = []
    for name, value in inputs.items():
        if isinstance(value, ts.Tensor):
            if value.dim() == 0 or (rows is not None and value.size(0) != rows):
                return index
            rows = value.size(0)
            key.append((name, value.dtype, tuple(value.shape[1:])))
        elif isinstance(value, bool | int | float | str | None):
            key.append((name, type(value), value))
        else:
            return index
    return tuple(key) if rows else index


def _row_count(inputs: dict[str, Any]) -> int:
    return int(next(value.size(0) for value in inputs.values() if isinstance(value, ts.Tensor)))


def _split_rows(value: Any, rows: list[int]) -> list[Any]:
    """Split the tensors of a stacked value along the first dimension into one value per request.

    `rows` contains the number of rows of each request. Raises CannotBatchError if the number of rows of a
    tensor is not the sum of `rows`.
    """
    match value:
        case ts.Tensor():
            if value.dim() == 0 or value.size(0) != sum(rows):
                raise CannotBatchError
            return list(value.split(rows))
        case dict():
            columns = {key: _split_rows(each, rows) for key, each in value.items()}
            return [{key: column[i] for key, column in columns.items()} for i in range(len(rows))]
        case tuple() | list():
            split_elements = [_split_rows(each, rows) for each in value]
            values = [[rows_of_element[i] for rows_of_element in split_elements] for i in range(len(rows))]
            if hasattr(value, "_fields"):
                return [type(value)(*each) for each in values]
            return [type(value)(each) for each in values]
        case None:
            return [None] * len(rows)
    raise CannotBatchError


def _int64_json_inputs(inputs: Inputs, kind: str) -> list[str]:
    """Return the names of int64 tensors in JSON inputs.

    These are tensors whose numbers have no decimal point.
    """
    if kind != "json" or isinstance(inputs, Exception):
        return []
    return [name for name, x in inputs.items() if isinstance(x, ts.Tensor) and x.dtype == ts.int64]


def _error_result(error: Exception, int64_names: Sequence[str] = ()) -> tuple[Result, bytes]:
    """Return the error response for an exception that occurred while decoding, running or encoding."""
    status, code, message = 500, "internal", f"{type(error).__name__}: {without_stack(str(error))}"
    match error:
        case InvalidInputError():
            status, code, message = 400, "bad_input", str(error)
        case ResponseTooLargeError():
            status, code, message = 413, "too_large", str(error)
        case TimeExceeded():
            status, code, message = 504, "too_long", "the request exceeded its time limit"
        case MemoryExceeded() | MemoryError():
            status, code, message = (
                507,
                "too_much_memory",
                "the request exceeded its memory limit",
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
    if code == "failed" and int64_names and _DTYPE_ERROR_PATTERN.search(message):
        message += (
            f" (integers are decoded as int64, here {', '.join(int64_names)}; "
            'for float inputs, write 1.0 or {"data": ..., "dtype": "float32"})'
        )
    return {"status": status, "type": TYPES["json"]}, error_body(status, code, message)
