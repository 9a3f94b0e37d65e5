"""Futures (promises), with the interface of `torch.futures.Future`.

A future receives a result or an exception once. All waiting scripts and threads get this result. Example:

    f = Future()
    g = f.then(lambda f: f.value() + 1)
    f.set_result(1)
    g.wait()                    2

A `wait` in a script parks the script's program. A `wait` in Python first runs the programs that the future
depends on, unless the thread pool has started them. Then it blocks the thread. Therefore, nested forks need
only one thread.
"""

import threading
from types import GenericAlias

cimport cython

from ts._core.value.container cimport Dict, List, Tuple
from ts._core.value.ivalue cimport IValue, box, copy_value, release, unbox, unbox_shallow
from ts._core.thread.deadline cimport seconds_left
from ts._core.vm.meter cimport check_limits

from ts._core.value.spec cimport TypeSpec
from ts._core.value.type_of cimport conforms

from ts._core.value.type_of import register_future_type
from ts.errors import LimitExceeded

cdef object allocate_lock = threading.Lock
cdef object Lock = type(allocate_lock())


@cython.trashcan(True)  # limits the recursion when a chain of futures is released
cdef class Future:
    def __cinit__(self, *_, **__):
        self.callbacks = []

    def __init__(self, *, devices=None):
        if devices is not None:
            for device in devices:
                if ":" not in str(device):
                    raise ValueError(f"Expected devices to have indices, got {device}")

    __class_getitem__ = classmethod(GenericAlias)

    def __repr__(self):
        return f"<torch.jit.Future object at {id(self):#x}>"

    def __reduce__(self):
        raise RuntimeError("Can not pickle torch.futures.Future")

    def done(self):
        """Return whether the future has a result or an exception."""
        return self.finished

    def wait(self):
        """Block until the future is finished, then return its result or raise its exception."""
        if not self.finished:
            self.block()
        return self.outcome()

    def value(self):
        """Return the result of a finished future, or raise RuntimeError if it is unfinished."""
        if not self.finished:
            raise RuntimeError("value() of a future that is not completed; use wait()")
        return self.outcome()

    cdef object outcome(self):
        cdef IValue value
        if self.error is not None:
            raise self.error
        if self.from_python:
            return self.result
        unbox_shallow(self.result, &value)
        try:
            return box(&value)
        finally:
            release(&value)

    def exception(self):
        """Return the exception of a failed future, or None for other futures."""
        return self.error

    cdef int take(self, TypeSpec spec, IValue *out) except -1:
        cdef IValue value
        if self.error is not None:
            if isinstance(self.error, LimitExceeded) or not isinstance(self.error, Exception):
                raise self.error
            # Raise a new exception. The script adds its stack to the message, and the message of the original
            # exception may already contain the stack of another script.
            raise RuntimeError(str(self.error)) from self.error
        if self.from_python:
            unbox(self.result, spec, &value)
        else:
            unbox_shallow(self.result, &value)
            if not conforms(&value, spec):
                release(&value)
                if isinstance(self.result, (List, Dict, Tuple)):
                    raise TypeError(f"a future of {self.result.spec.annotation_str} is not a future of {spec.annotation_str}")
                unbox(self.result, spec, &value)
        copy_value(out, &value)
        release(&value)
        return 0

    def set_result(self, result):
        """Finish the future with a result."""
        self.finish(result, None, True)

    def set_exception(self, result):
        """Finish the future with an exception."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self.finish(None, result, True)

    cdef int finish(self, object result, object error, bint from_python) except -1:
        if self.finished:
            raise RuntimeError(
                "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once."
            )
        self.result, self.error, self.from_python = result, error, from_python
        self.finished = True
        self.producer = None
        callbacks, self.callbacks = self.callbacks, []
        for callback in callbacks:
            if type(callback) is Lock:
                callback.release()
            else:
                self.call(callback)
        return 0

    def call(self, callback):
        """Call `callback` with the future. If the callback raises an exception, print its traceback."""
        try:
            callback(self)
        except Exception:
            import traceback

            traceback.print_exc()

    def add_done_callback(self, callback):
        """Register `callback(self)`, which is called when the future finishes, or now if it has finished."""
        if not callable(callback):
            raise TypeError(f"add_done_callback(): expected a callable, not {type(callback).__name__}")
        if self.finished:
            self.call(callback)
        else:
            self.callbacks.append(callback)

    def then(self, callback):
        """Call `callback(self)` when this future finishes, and return a future for the result of the call."""
        if not callable(callback):
            raise TypeError(f"then(): incompatible function arguments: expected a callable, not {type(callback).__name__}")
        cdef Future following = Future()

        def follow(future):
            try:
                result = callback(future)
            except Exception as error:
                message = f"Got the following error when running the callback: {type(error).__name__}: {error}"
                failure = RuntimeError(message)
                failure.__cause__ = error
                following.finish(None, failure, True)
            else:
                following.finish(result, None, True)

        self.add_done_callback(follow)
        return following

    cdef int block(self) except -1:
        while not self.finished:
            task = waiting_program(self)
            if task is not None:
                task.run_queued()
            else:
                self.sleep()
        return 0

    cdef int sleep(self) except -1:
        lock = allocate_lock()
        lock.acquire()
        self.callbacks.append(lock)
        try:
            while not self.finished:
                if lock.acquire(True, seconds_left()):
                    return 0
                check_limits()
        finally:
            if not self.finished:
                self.callbacks.remove(lock)
        return 0


register_future_type(Future)


cdef object waiting_program(Future future):
    """Return a queued program that `future` depends on, directly or through other futures.

    Return None without such a program.
    """
    cdef int steps = 0
    producer = future.producer
    # the number of steps is limited, because futures may wait for each other in a cycle
    while producer is not None and steps < 10000:
        if producer.is_queued:
            return producer
        future = producer.awaited
        producer = None if future is None else future.producer
        steps += 1
    return None
