"""Fake CUDA graphs: calls during a stream capture are recorded, and repeated by `launch`.

Results are written to the address of the first result.  Synchronizing calls during a capture raise an error,
as on a device.
"""

from functools import wraps

import numpy as np

recordings = []  # the recorded calls of each stream under capture; the last list is active
_call_depth = [0]
pending_errors = []  # errors of kernels, which the next synchronizing call raises


def current():
    return recordings[-1] if recordings else None


def arrays(x):
    if hasattr(x, "_host"):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from arrays(y)


def record_calls(function):
    """Decorate a function to record its calls during a capture, except calls by recorded functions."""

    @wraps(function)
    def called(*args, **kwargs):
        _call_depth[0] += 1
        try:
            result = function(*args, **kwargs)
        finally:
            _call_depth[0] -= 1
        if current() is not None and not _call_depth[0]:
            current().append((function, args, kwargs, result))
        return result

    return called


def check_not_capturing():
    """Raise an error during a capture, for functions that synchronize with the device."""
    if current() is not None:
        from tests.fake_cupy.runtime import CUDARuntimeError

        raise CUDARuntimeError("cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing")


def reject_capture(function):
    """Decorate a function that raises an error during a capture."""

    @wraps(function)
    def called(*args, **kwargs):
        if current() is not None and not _call_depth[0]:
            from tests.fake_cupy.runtime import CUDARuntimeError

            raise CUDARuntimeError("cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing")
        if pending_errors and not _call_depth[0]:
            from tests.fake_cupy.runtime import CUDARuntimeError

            raise CUDARuntimeError(pending_errors.pop())
        return function(*args, **kwargs)

    return called


class Graph:
    """`cupy.cuda.Graph`, the result of `Stream.end_capture`."""

    def __init__(self, calls):
        self._calls = calls

    def launch(self, stream=None):
        from tests.fake_cupy.array import MemoryPool, using_allocator

        with using_allocator(MemoryPool().malloc):  # the memory of the repeated results, which are copied
            for function, args, kwargs, result in self._calls:
                for old, new in zip(arrays(result), arrays(function(*args, **kwargs)), strict=True):
                    if not np.shares_memory(old._host, new._host):
                        old._host[...] = new._host
