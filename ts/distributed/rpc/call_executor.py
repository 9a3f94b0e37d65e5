"""Executor of calls from other workers, in a thread pool and within the limits of this process.

Input: the name of a callee, and encoded arguments. Output: a response with the result. The example finds the
callee in a thread of the pool, and calls it:

    executor.begin(executor.run, name, encoded, code, response)

A script that waits for a future releases its thread. Its call counts as active until the script has finished.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from concurrent.futures import Future as ConcurrentFuture
from contextlib import AbstractContextManager
from typing import Any

from ts._core.vm.future import Future
from ts.distributed.dist_autograd.contexts import entered_context as inside_of
from ts.distributed.dist_autograd.send_recv_nodes import GradientCodec
from ts.distributed.rpc.call_counts import CallCounts
from ts.distributed.rpc.callable_registry import ASYNC_FUNCTION_ATTRIBUTE, ReceivedCode, UnknownCodeError
from ts.distributed.rpc.connection_threads import is_server_thread
from ts.distributed.rpc.options import RpcBackendOptions
from ts.distributed.rpc.responses import ResponseWriter, send_outcome, send_result
from ts.distributed.rpc.rref_store import OwnerRRef, RRefStore, parse_id
from ts.frontend.load_policy import LoadPolicy
from ts.ops.rpc_ops import WorkerInfo
from ts.runtime.function import ScriptFunction
from ts.runtime.script_method import ScriptMethod


class CallExecutor:
    """Executor of the calls of other workers, with their permissions and limits."""

    def __init__(
        self,
        options: RpcBackendOptions,
        pool: Executor,
        calls: CallCounts,
        rrefs: RRefStore,
        codec: GradientCodec,
        info: WorkerInfo,
    ) -> None:
        self._options, self._pool, self._calls = options, pool, calls
        self._rrefs, self._codec, self._info = rrefs, codec, info
        self._terms = LoadPolicy(options.limits, options.allowed_ops)
        self.received_code = ReceivedCode(options.allow_python, self._terms)

    def run_and_store(
        self, response: ResponseWriter, identity: Any, fork: Any, process: int, work: Any, *arguments: Any
    ) -> None:
        """Start a call whose result this process keeps as the value of an RRef.

        Respond before the call has finished.
        """
        if work == self.run and arguments[2] is None and not self.received_code.has(arguments[0]):
            response.report_unknown_code()
            return
        owner = self._rrefs.begin(parse_id(identity), parse_id(fork), process)
        response.keep_active_until(owner.value)
        self.begin(work, *arguments, owner)
        response.result(None)

    def begin(self, work: Callable[..., Future[Any] | None], *arguments: Any) -> None:
        """Run `work(*arguments)` for another worker: in this thread if it is a server thread, or in the pool.

        If `work` returns a future because a script was suspended, the call is active until the future is
        done.
        """
        self._calls.count("begun")

        def on_pool_done(pool_future: ConcurrentFuture[Future[Any] | None]) -> None:
            failed = pool_future.cancelled() or pool_future.exception() is not None
            self._on_work_done(None if failed else pool_future.result())

        try:
            if is_server_thread():
                self._on_work_done(work(*arguments))
            else:
                self._pool.submit(work, *arguments).add_done_callback(on_pool_done)
        except BaseException:
            self._calls.count("done")
            raise

    def _on_work_done(self, pending: Future[Any] | None) -> None:
        if pending is None:
            self._calls.count("done")
        else:
            self._calls.count("parked")
            pending.add_done_callback(self._resumed)

    def _resumed(self, future: Future[Any]) -> None:
        self._calls.count("resumed")
        self._calls.count("done")

    def run(self, name: Any, encoded: Any, code: Any, response: Any) -> Future[Any] | None:
        """Run a callee for another worker and send its result.

        Return a future if the callee is a script that was suspended.
        """
        try:
            if code is not None:
                self.received_code.add(name[1], code)
            callee = self.received_code.find(name)
            response.record_start()
            response.wire_context = self._rrefs.wire_context_for(callee)
            (args, kwargs), response.context_id = self._codec.unpack(encoded, response.wire_context)
        except UnknownCodeError:
            response.report_unknown_code()
        except Exception as error:
            response.fail(error)
        else:
            info = self._info if name[0] == "python" else None
            return self._give(callee, args, kwargs, response, info, name[-1] == ASYNC_FUNCTION_ATTRIBUTE)
        return None

    def run_method(self, owned: OwnerRRef, name: str, encoded: Any, response: Any) -> Future[Any] | None:
        """Call a method of a value of this process and send the result.

        Return a future if the method is a script that was suspended.
        """
        try:
            value = owned.value.wait()
            response.record_start()
            self._check_method(value, name)
            (args, kwargs), response.context_id = self._codec.unpack(encoded)
            method = getattr(value, name)
        except Exception as error:
            response.fail(error)
        else:
            return self._give(method, args, kwargs, response, self._info)
        return None

    def _give(
        self,
        callee: Any,
        args: Any,
        kwargs: Any,
        response: Any,
        info: WorkerInfo | None,
        asynchronous: bool = False,
    ) -> Future[Any] | None:
        """Call `callee` within the limits and send its result or exception.

        A script runs in this thread until it returns or waits for a future. While it waits, it occupies no
        thread.
        """
        try:
            with self.within(), inside_of(response.context_id):
                if not isinstance(callee, ScriptFunction | ScriptMethod):
                    send_result(callee(*args, **kwargs), callee, response)
                    return None
                program = callee.start(*args, **kwargs)
        except BaseException as error:
            # any exception, also SystemExit, is sent to the caller, which raises it
            response.fail(error, info)
            return None
        program.future.add_done_callback(lambda future: send_outcome(future, response, asynchronous))
        program.run_inline()
        return program.future

    def within(self) -> AbstractContextManager[Any]:
        """Return a context that applies the limits of incoming calls."""
        return self._terms.within()

    def _check_method(self, value: Any, name: str) -> None:
        """Raise PermissionError if other workers are not allowed to call the method `name` of `value`."""
        from ts._core.tensor.tensor import Tensor

        if isinstance(value, Tensor) and not name.startswith("_"):
            self.received_code.check_allowed(f"aten::{name}")
        elif not _is_scripted(value, name) and not self._options.allow_python:
            method = f"{type(value).__module__}.{type(value).__qualname__}.{name}"
            raise PermissionError(
                f"{method} is a Python method; this process runs Python code only with allow_python=True"
            )


def _is_scripted(value: Any, name: str) -> bool:
    """Return True if the attribute `name` of a scripted object is a compiled method or a submodule.

    Methods of the Python class, such as `save`, are neither.
    """
    from ts.runtime.module import ScriptModule
    from ts.runtime.objects import BoundMethod, RecursiveScriptClass

    if not isinstance(value, ScriptModule | RecursiveScriptClass) or name.startswith("_"):
        return False
    return isinstance(getattr(value, name, None), ScriptMethod | ScriptModule | BoundMethod)
