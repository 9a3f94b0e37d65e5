"""CUDA graphs by stream capture (graph capture) and graph replay, which runs without Python.

Input: work on a stream between `begin` and `end`. Output: a graph, which `replay` runs on the same memory.

The current stream must not be the default stream. The graph keeps copies of numbers and host arrays. The
state of the random generator is read at replay, not at capture. Example:

    g = Graph()
    g.begin(pool=None)
    y = x * 2                 # captured, not executed
    g.end()
    x[...] = 1
    g.replay()                # y is twice the new x
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any

import cupy
import numpy as np
from numpy.typing import NDArray

from . import memory

_thread = threading.local()


def capturing() -> Graph | None:
    """Return the graph that this thread is capturing, or None outside of a capture."""
    return getattr(_thread, "graph", None)


def check_not_capturing() -> None:
    """Raise RuntimeError during a capture, because captured results are not computed yet."""
    if capturing() is not None:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")


class GraphPool(memory.BlockPool):
    """Memory pool of graphs. Graphs that share a pool must not run at the same time."""


class GraphRngState:
    """Random generator state of a graph. Kernels read seed and offset from device memory at replay."""

    def __init__(self) -> None:
        self.start = cupy.empty(2, np.uint64)
        self.count = 0

    def set(self, stream: Any) -> None:
        """Copy seed and offset of `stream` to the device.

        Advance `stream` by the numbers that one replay draws.
        """
        self.start.set(np.array([stream.initial_seed, stream.offset], np.uint64))
        stream.offset += self.count


class Graph:
    """Captured work of a stream, with the memory and constants that it needs."""

    def __init__(self) -> None:
        self.pool: GraphPool | None = None
        self._graph: Any = None
        self._stream: Any = None
        self._allocating: AbstractContextManager[Any] | None = None
        self._constants: list[Any] = []
        self._rng_states: dict[Any, GraphRngState] = {}

    def begin(self, pool: GraphPool | None = None) -> None:
        """Start capturing the work of the current stream."""
        stream = cupy.cuda.get_current_stream()
        if self._graph is not None:
            raise RuntimeError(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new "
                "instance."
            )
        if stream.ptr == 0:
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to "
                "replay them on the default stream.)"
            )
        check_not_capturing()
        self.pool = self.pool or pool or GraphPool()
        self._stream = stream
        # If `begin_capture` raises, `begin` can be called again, because the state of this object changes
        # only afterwards.
        stream.begin_capture()
        memory.begin_capture(self)
        self._allocating = self.pool.allocating()
        self._allocating.__enter__()
        _thread.graph = self

    def end(self) -> None:
        """End the capture and instantiate the graph."""
        if capturing() is not self or self._allocating is None:
            raise RuntimeError("capture_end() was called on a graph that is not being captured")
        _thread.graph = None
        try:
            self._graph = self._stream.end_capture()
        finally:
            memory.end_capture(self)
            self._allocating.__exit__(None, None, None)
            self._allocating = None

    def replay(self) -> None:
        """Launch the graph on the current stream, or raise RuntimeError if nothing was captured."""
        if self._graph is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        for stream, state in self._rng_states.items():
            state.set(stream)
        self._graph.launch()

    def reset(self) -> None:
        """Release the graph, its memory and its constants."""
        self._graph = self.pool = None
        self._constants, self._rng_states = [], {}

    def rng_state(self, stream: Any) -> GraphRngState:
        """Return the graph's state for a random stream. The first call creates the state."""
        if stream not in self._rng_states:
            self._rng_states[stream] = GraphRngState()
        return self._rng_states[stream]

    def keep_constant(self, host: NDArray[Any]) -> Any:
        """Return a device copy of a host array. The graph keeps a pinned copy, from which replays copy."""
        copy = memory.copy_to_pinned(np.ascontiguousarray(host))
        self._constants.append(copy)
        copy_on_device = cupy.empty(copy.shape, copy.dtype)
        copy_on_device.set(copy)
        return copy_on_device


def capture_constant(host: Any, dtype: Any = None) -> Any:
    """Return a device array with the value of `host`, owned by the graph that this thread captures.

    Return None if no capture is active, or if `host` is neither a number nor a NumPy array.
    """
    graph = capturing()
    if graph is None or not isinstance(host, (np.ndarray, np.generic, bool, int, float, complex)):
        return None
    array = np.asarray(host, dtype)
    return graph.keep_constant(array) if array.ndim else cupy.full((), array.item(), array.dtype)
