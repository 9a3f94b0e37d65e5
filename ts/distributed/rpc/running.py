"""The calls of others as they run here: in threads, within the limits of this process.

    running.begin(running.run, name, parcel, code, asked)        a thread finds the callee, and calls it
    running.keep(asked, identity, fork, process, ...)            the same for a value that stays here

A script that waits gives its thread back: its call is under way until its future is finished.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future as Turn
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ts._core.vm.future import Future
from ts.distributed.gradients import recording
from ts.distributed.gradients.contexts import inside as inside_of
from ts.distributed.rpc.answers import Answer, conclude, finish
from ts.distributed.rpc.callees import ASYNCHRONOUS, Known, Unknown
from ts.distributed.rpc.options import RpcBackendOptions
from ts.distributed.rpc.serving import serves
from ts.distributed.rpc.table import Owned, as_identity
from ts.frontend.terms import Terms
from ts.ops.rref import WorkerInfo
from ts.runtime.function import ScriptFunction
from ts.runtime.script_method import ScriptMethod

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent


class Running:
    """See the file."""

    def __init__(self, agent: Agent, options: RpcBackendOptions) -> None:
        self._agent = agent
        self._options = options
        self._terms = Terms(options.limits, options.allowed_ops)
        self._lock = threading.Lock()
        self.pool = ThreadPoolExecutor(options.num_worker_threads, "ts.rpc")
        self.known = Known(options.allow_python, self._terms)
        self.tally: Counter[str] = Counter()  # of calls: begun, done, failed; parked, resumed: scripts

    def keep(
        self, asked: Answer, identity: Any, fork: Any, process: int, work: Any, *arguments: Any
    ) -> None:
        """Begin what makes a value that stays here."""
        if work == self.run and arguments[2] is None and not self.known.has(arguments[0]):
            asked.unknown()
            return
        kept = self._agent.references.begin(as_identity(identity), as_identity(fork), process)
        asked.goes_on(kept.value)
        self.begin(work, *arguments, kept)
        asked.result(None)

    def begin(self, work: Callable[..., Future[Any] | None], *arguments: Any) -> None:
        """Have a thread do something for another process: this one, if it serves who waits.

        A script may go on when that has returned.
        """
        self._agent.began()
        self.count("begun")

        def worked(turn: Turn[Future[Any] | None]) -> None:
            failed = turn.cancelled() or turn.exception() is not None
            self._worked(None if failed else turn.result())

        try:
            if serves():
                self._worked(work(*arguments))
            else:
                self.pool.submit(work, *arguments).add_done_callback(worked)
        except BaseException:
            self._done()
            raise

    def _worked(self, goes_on: Future[Any] | None) -> None:
        if goes_on is None:
            self._done()
        else:
            self.count("parked")
            goes_on.add_done_callback(self._resumed)

    def _resumed(self, future: Future[Any]) -> None:
        self.count("resumed")
        self._done()

    def _done(self) -> None:
        self.count("done")
        self._agent.ended()

    def count(self, what: str) -> None:
        """One more call of others that has begun, is done or failed."""
        with self._lock:
            self.tally[what] += 1

    def run(self, name: Any, parcel: Any, code: Any, asked: Any) -> Future[Any] | None:
        """Run a callee for another process, and give its result to who asked."""
        try:
            if code is not None:
                self.known.add(name[1], code)
            callee = self.known.find(name)
            asked.begins()
            asked.travel = self._agent.references.travel_of(callee)
            (args, kwargs), asked.context_id = recording.unpack(parcel, self._agent, asked.travel)
        except Unknown:
            asked.unknown()
        except Exception as error:  # for whoever asked
            asked.failed(error)
        else:
            info = self._agent.info if name[0] == "python" else None
            return self._give(callee, args, kwargs, asked, info, name[-1] == ASYNCHRONOUS)
        return None

    def run_method(self, owned: Owned, name: str, parcel: Any, asked: Any) -> Future[Any] | None:
        """Call a method of a value that is here."""
        try:
            value = owned.value.wait()
            asked.begins()
            self._check_method(value, name)
            (args, kwargs), asked.context_id = recording.unpack(parcel, self._agent)
            method = getattr(value, name)
        except Exception as error:  # for whoever asked
            asked.failed(error)
        else:
            return self._give(method, args, kwargs, asked, self._agent.info)
        return None

    def _give(
        self,
        callee: Any,
        args: Any,
        kwargs: Any,
        asked: Any,
        info: WorkerInfo | None,
        asynchronous: bool = False,
    ) -> Future[Any] | None:
        """Call something within the limits, and give what it returns or raises to who asked.

        A script runs here until it ends or waits; one that waits has no thread.
        """
        try:
            with self.within(), inside_of(asked.context_id):
                if not isinstance(callee, ScriptFunction | ScriptMethod):
                    finish(callee(*args, **kwargs), callee, asked)
                    return None
                program = callee.start(*args, **kwargs)
        except BaseException as error:  # for whoever asked: `sys.exit()` of a callee, too
            asked.failed(error, info)
            return None
        program.future.add_done_callback(lambda future: conclude(future, asked, asynchronous))
        program.go()
        return program.future

    def within(self) -> AbstractContextManager[Any]:
        """The limits of what this process does for others."""
        return self._terms.within()

    def _check_method(self, value: Any, name: str) -> None:
        """PermissionError for what others may not call of a value that is here."""
        from ts._core.tensor.tensor import Tensor

        if isinstance(value, Tensor) and not name.startswith("_"):
            self.known.check_allowed(f"aten::{name}")
        elif not _is_scripted(value, name) and not self._options.allow_python:
            told = f"{type(value).__module__}.{type(value).__qualname__}.{name}"
            raise PermissionError(
                f"{told} is a method of Python, which this process runs none of: allow_python=True"
            )


def _is_scripted(value: Any, name: str) -> bool:
    """Whether that is a compiled method, or a part, of a scripted module or object; `save` is not."""
    from ts.runtime.module import ScriptModule
    from ts.runtime.objects import BoundMethod, RecursiveScriptClass

    if not isinstance(value, ScriptModule | RecursiveScriptClass) or name.startswith("_"):
        return False
    return isinstance(getattr(value, name, None), ScriptMethod | ScriptModule | BoundMethod)
