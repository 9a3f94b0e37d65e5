"""CUDA graphs: what a stream was given, to be done again at once, without Python.

In: work on a stream between `begin` and `end`; out: a graph, which `replay` runs on the same memory.

    g = Graph()
    g.begin(pool=None)
    y = x * 2                 on the current stream, which is not the default one: noted, not done
    g.end()
    x[...] = ...; g.replay()  y is twice the new x

Three things that a graph reads have to be its own, as long as it may run:

    memory      what is allocated meanwhile comes from a pool of its own, which other graphs may share
    constants   numbers and arrays of the host that kernels bring over: the graph keeps copies
    random      streams draw from where they are when the graph runs, not where they were (`Draws`)
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any

import cupy
import numpy as np
from numpy.typing import NDArray

from . import memory

_here = threading.local()


def capturing() -> Graph | None:
    """The graph that this thread is making."""
    return getattr(_here, "graph", None)


def refuse_waiting() -> None:
    """RuntimeError where a graph is being made: nothing that it computes is there yet."""
    if capturing() is not None:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")


class Pool:
    """Memory of graphs; those that have it in common must not run at the same time."""

    def __init__(self) -> None:
        self.pool = cupy.cuda.MemoryPool()

    def allocate(self) -> AbstractContextManager[Any]:
        """The block in which this thread's arrays come from it."""
        context: AbstractContextManager[Any] = cupy.cuda.using_allocator(self.pool.malloc)
        return context


class Draws:
    """How a graph draws from a random stream: seed and offset are read where they are when it runs."""

    def __init__(self) -> None:
        self.start = cupy.empty(2, np.uint64)
        self.count = 0

    def set(self, stream: Any) -> None:
        """Go on where `stream` is, which goes on behind."""
        self.start.set(np.array([stream.initial_seed, stream.offset], np.uint64))
        stream.offset += self.count


class Graph:
    """Work that was noted, and what it needs to be done again."""

    def __init__(self) -> None:
        self.pool: Pool | None = None
        self._graph: Any = None
        self._stream: Any = None
        self._allocating: AbstractContextManager[Any] | None = None
        self._kept: list[Any] = []
        self._draws: dict[Any, Draws] = {}

    def begin(self, pool: Pool | None = None) -> None:
        """Note from now on what the current stream is given."""
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
        refuse_waiting()
        self.pool = self.pool or pool or Pool()
        self._stream = stream
        stream.begin_capture()  # which may fail: then nothing has happened
        self._allocating = self.pool.allocate()
        self._allocating.__enter__()
        _here.graph = self

    def end(self) -> None:
        """Make the graph of what was noted."""
        if capturing() is not self or self._allocating is None:
            raise RuntimeError("capture_end() was called on a graph that is not being captured")
        _here.graph = None
        try:
            self._graph = self._stream.end_capture()
        finally:
            self._allocating.__exit__(None, None, None)
            self._allocating = None

    def replay(self) -> None:
        """Do it again, on the current stream."""
        if self._graph is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        for stream, draws in self._draws.items():
            draws.set(stream)
        self._graph.launch()

    def reset(self) -> None:
        """Forget the graph and its memory."""
        self._graph = self.pool = None
        self._kept, self._draws = [], {}

    def draws(self, stream: Any) -> Draws:
        """How it draws from a random stream."""
        if stream not in self._draws:
            self._draws[stream] = Draws()
        return self._draws[stream]

    def keep(self, host: NDArray[Any]) -> Any:
        """An array of the host on the device, whenever the graph runs."""
        copy = memory.pinned(np.ascontiguousarray(host))
        self._kept.append(copy)
        made = cupy.empty(copy.shape, copy.dtype)
        made.set(copy)
        return made


def brought(host: Any, dtype: Any = None) -> Any:
    """What a kernel brings over from the host, where a graph is being made: kept by it.  Else None."""
    graph = capturing()
    if graph is None or not isinstance(host, (np.ndarray, np.generic, bool, int, float, complex)):
        return None
    found = np.asarray(host, dtype)
    return graph.keep(found) if found.ndim else cupy.full((), found.item(), found.dtype)
