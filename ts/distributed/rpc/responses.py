"""Serialization of responses to other processes, which contain values or remote exceptions.

In the callee, these calls send the messages on the right:

    response.result(3)                       ("value", 3, [])
    response.fail(ValueError("bad"))         ("failed", "ValueError", "bad")
    response.report_unknown_code()           ("unknown",)

In the caller, `decode_response(message, codec)` returns 3 for the first message, and raises ValueError for
the second. After the third, the caller must send the code of the function.
"""

from __future__ import annotations

import builtins
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import ts.errors
from ts._core.vm.future import Future
from ts.distributed.dist_autograd.send_recv_nodes import GradientCodec
from ts.distributed.rpc.callable_registry import ASYNC_FUNCTION_ATTRIBUTE
from ts.distributed.transport.multiplexing import Reply
from ts.distributed.wire_values import WireContext

if TYPE_CHECKING:
    from ts.distributed.rpc.rref_store import OwnerRRef

UNKNOWN_CODE: Final = "unknown"


class ResponseWriter:
    """Writer of the response to one request."""

    # id of the distributed autograd context of the call, or None if it has no context
    context_id: int | None = None

    def __init__(self, codec: GradientCodec, reply: Reply, count_failure: Callable[[], None]) -> None:
        self._codec, self._reply, self._count_failure = codec, reply, count_failure
        # codec for the classes in the signature of the callee, or None before the callee is known
        self.wire_context: WireContext | None = None
        # `time.perf_counter_ns()` when the call arrived if it is profiled, else None
        self.arrived: int | None = None
        self._queued_ns = 0

    def result(self, value: Any) -> None:
        """Send a value, or the error if the value cannot be serialized."""
        try:
            encoded = self._codec.pack(value, self.context_id, wire_context=self.wire_context)
            self._reply(["value", *encoded] if self.arrived is None else ["value", *encoded, self._queued_ns])
        except Exception as error:
            self.fail(error)

    def record_start(self) -> None:
        """Record that execution starts. For a profiled call, store how long the call waited."""
        if self.arrived is not None:
            self._queued_ns = time.perf_counter_ns() - self.arrived

    def fail(self, error: BaseException, info: Any = None) -> None:
        """Send an exception.

        If a Python function raised it, `info` is this worker, and the traceback is added.
        """
        error = with_remote_traceback(error, info)
        self._count_failure()
        self._reply(["failed", type(error).__name__, _error_text(error)])

    def report_unknown_code(self) -> None:
        """Tell the caller that this process lacks the callee's code."""
        self._reply([UNKNOWN_CODE])

    def send_result(self, future: Future[Any]) -> None:
        """Send the value or exception of a finished future."""
        send_outcome(future, self)

    def send_type_name(self, future: Future[Any]) -> None:
        """Send (module, qualified name) of the class of a finished future's value.

        If the future has an exception, send the exception.
        """
        error = future.exception()
        if error is None:
            kind = type(future.value())
            self.result((kind.__module__, kind.__qualname__))
        else:
            self.fail(error)

    def send_when_ready(self, owned: OwnerRRef) -> None:
        """Send the value of `owned` as soon as it is computed."""

        def send(future: Future[Any]) -> None:
            self.wire_context = owned.wire_context
            self.send_result(future)

        owned.value.add_done_callback(send)

    def keep_active_until(self, future: Future[Any]) -> None:
        """Count the request as active until `future` is done, although the response is sent earlier."""
        self._reply.count_call()
        future.add_done_callback(lambda _: self._reply.finish_call())


def respond(work: Callable[..., None], *arguments: Any) -> None:
    """Call `work(*arguments)`. The last argument is a ResponseWriter, which sends an exception of `work`."""
    try:
        work(*arguments)
    except Exception as error:
        arguments[-1].fail(error)


def with_remote_traceback(error: BaseException, info: Any) -> Exception:
    """Return the exception itself, or a copy for the remote caller if `info` is given.

    The message of the copy contains `info` and the traceback. SystemExit and similar exceptions become
    RuntimeError, so that they do not end the calling process.
    """
    if info is None:
        return error if isinstance(error, Exception) else RuntimeError(_error_text(error, repr))
    lines = "".join(traceback.format_exception(error))
    kind: Any = _error_class(type(error).__name__)
    kind = kind if kind is type(error) else RuntimeError
    return kind(f"On {info}:\n{_error_text(error, repr)}\n{lines}")


def _error_message(error: BaseException) -> str:
    """Return the message from which the caller recreates the error.

    For a KeyError, the message is the argument of the error, because `str(KeyError(...))` adds quotes.
    """
    match error:
        case KeyError(args=(str(message),)):
            return message
    return str(error)


def _error_text(error: BaseException, format_error: Callable[[Any], str] = _error_message) -> str:
    """Return the message of an error as valid UTF-8. If `__str__` raises, return only the class name."""
    try:
        return format_error(error).encode("utf-8", "backslashreplace").decode()
    except Exception:
        return f"{type(error).__name__}, whose message cannot be formatted"


def send_result(result: Any, callee: Any, writer: Any) -> None:
    """Send `result`, which `callee` returned.

    If `callee` is marked by `async_execution`, `result` is a future, and the value of the future is sent.
    """
    if getattr(callee, ASYNC_FUNCTION_ATTRIBUTE, None) is None:
        writer.result(result)
        return
    if not isinstance(result, Future):
        kind = type(result)
        raise RuntimeError(
            "Functions decorated with @rpc.async_function must return a torch.futures.Future object, but got "
            f"{kind.__module__}.{kind.__qualname__}"
        )
    result.add_done_callback(lambda future: send_outcome(future, writer))


def send_outcome(future: Future[Any], writer: Any, asynchronous: bool = False) -> None:
    """Send the value or exception of a finished future.

    If `asynchronous` is True, the value must be another future. When that future is done, its value or
    exception is sent. If the value is not a future, a RuntimeError is sent.
    """
    error = future.exception()
    if error is not None:
        writer.fail(error)
        return
    value = future.value()
    if not asynchronous:
        writer.result(value)
    elif isinstance(value, Future):
        value.add_done_callback(lambda inner: send_outcome(inner, writer))
    else:
        kind = type(value).__name__
        message = f"Expected Future but got {kind}: an asynchronous function returns a Future"
        writer.fail(RuntimeError(message))


def decode_response(message: Any, codec: GradientCodec, wire_context: WireContext | None = None) -> Any:
    """Return the value in a response, or raise the exception in it.

    A malformed response raises RuntimeError.
    """
    match message:
        case ("value", data, memory, *_):
            return codec.unpack((data, memory), wire_context)[0]
        case ("failed", str(kind), str(reason)):
            raise _error_class(kind)(reason)
    raise RuntimeError(f"malformed response: {message!r:.100}")


def _error_class(name: str) -> Any:
    """Return the exception class with this name if its constructor takes one string, else RuntimeError."""
    kind = getattr(builtins, name, None) or getattr(ts.errors, name, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return RuntimeError
    return RuntimeError if issubclass(kind, UnicodeError | ExceptionGroup) else kind
