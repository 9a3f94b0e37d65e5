"""What a process says to one that asked it something: a value, or what was raised.

answer.result(3)                         ("value", 3, [])
answer.failed(ValueError("bad"))         ("failed", "ValueError", "bad")
answer.unknown()                         ("unknown",): send the code

value_of(answered, agent)                3, or ValueError("bad") is raised
"""

from __future__ import annotations

import builtins
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import ts.errors
from ts._core.vm.future import Future
from ts.distributed.comm.calls import Reply
from ts.distributed.gradients import recording
from ts.distributed.rpc.callees import ASYNCHRONOUS
from ts.distributed.values import Travel

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent
    from ts.distributed.rpc.table import Owned

UNKNOWN: Final = "unknown"


class Answer:
    """The one answer to a message."""

    context_id: int | None = None  # of gradients, which the value belongs to

    def __init__(self, agent: Agent, reply: Reply) -> None:
        self._agent = agent
        self._reply = reply
        self.travel: Travel | None = None  # of the callee
        self.arrived: int | None = None  # nanosecond at which a call that is watched came
        self._waited = 0

    def result(self, value: Any) -> None:
        """A value."""
        try:
            parcel = recording.pack(value, self._agent, self.context_id, travel=self.travel)
            self._reply(["value", *parcel] if self.arrived is None else ["value", *parcel, self._waited])
        except Exception as error:  # what cannot travel is told to whoever waits
            self.failed(error)

    def begins(self) -> None:
        """A thread has its turn with it."""
        if self.arrived is not None:
            self._waited = time.perf_counter_ns() - self.arrived

    def failed(self, error: BaseException, info: Any = None) -> None:
        """What was raised; `info` is this process, where its own functions raised it."""
        error = located(error, info)
        self._agent.running.count("failed")
        self._reply(["failed", type(error).__name__, _text(error)])

    def unknown(self) -> None:
        """The code is not here."""
        self._reply([UNKNOWN])

    def outcome(self, future: Future[Any]) -> None:
        """What a finished future holds."""
        conclude(future, self)

    def owned(self, owned: Owned) -> None:
        """A value of this process, when it is there."""

        def conclude_so(future: Future[Any]) -> None:
            self.travel = owned.travel
            self.outcome(future)

        owned.value.add_done_callback(conclude_so)

    def goes_on(self, future: Future[Any]) -> None:
        """What was asked for is over only when a future is finished, though it is answered before."""
        self._reply.began()
        future.add_done_callback(lambda _: self._reply.ended())


def located(error: BaseException, info: Any) -> Exception:
    """An error with the process that it was raised in, and the lines there; what ends programs ends none."""
    if info is None:
        return error if isinstance(error, Exception) else RuntimeError(_text(error, repr))
    lines = "".join(traceback.format_exception(error))
    kind: Any = _known(type(error).__name__)
    kind = kind if kind is type(error) else RuntimeError
    return kind(f"On {info}:\n{_text(error, repr)}\n{lines}")


def _told(error: BaseException) -> str:
    """What makes the same error again: the text of a KeyError is its argument in quotes."""
    match error:
        case KeyError(args=(str(text),)):
            return text
    return str(error)


def _text(error: BaseException, told: Callable[[Any], str] = _told) -> str:
    """An error in words that can travel, whatever a class of the program's own says."""
    try:
        return told(error).encode("utf-8", "backslashreplace").decode()
    except Exception:
        return f"{type(error).__name__}, which does not tell its text"


def finish(result: Any, callee: Any, kept: Any) -> None:
    """Give a result to who waits for it; of an asynchronous function, when its future has it."""
    if getattr(callee, ASYNCHRONOUS, None) is None:
        kept.result(result)
        return
    if not isinstance(result, Future):
        kind = type(result)
        raise RuntimeError(
            "Functions decorated with @rpc.async_function must return a torch.futures.Future object, but got "
            f"{kind.__module__}.{kind.__qualname__}"
        )

    result.add_done_callback(lambda future: conclude(future, kept))


def conclude(future: Future[Any], kept: Any, asynchronous: bool = False) -> None:
    """Give what a finished future holds to who waits for it, or, of an asynchronous script, will hold."""
    error = future.exception()
    if error is not None:
        kept.failed(error)
    elif asynchronous:
        conclude_later(future.value(), kept)
    else:
        kept.result(future.value())


def conclude_later(result: Any, kept: Any) -> None:
    """Give what a script's future holds to who waits for it, when it is finished."""
    if isinstance(result, Future):
        result.add_done_callback(lambda future: conclude(future, kept))
    else:
        kind = type(result).__name__
        text = f"Expected Future but got {kind}: an asynchronous function returns a Future"
        kept.failed(RuntimeError(text))


def value_of(answered: Any, agent: Agent, travel: Travel | None = None) -> Any:
    """What an answer holds; raises what it says was raised."""
    match answered:
        case ("value", data, memory, *_):
            return recording.unpack((data, memory), agent, travel)[0]
        case ("failed", str(kind), str(text)):
            raise _known(kind)(text)
    raise RuntimeError(f"an answer that is none: {answered!r:.100}")


def _known(name: str) -> Any:
    """The class of errors of a name, where one text makes one; RuntimeError for others."""
    found = getattr(builtins, name, None) or getattr(ts.errors, name, None)
    if not isinstance(found, type) or not issubclass(found, Exception):
        return RuntimeError
    return RuntimeError if issubclass(found, UnicodeError | ExceptionGroup) else found
