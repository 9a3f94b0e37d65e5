"""CUDA graphs, which capture work once and replay it without Python, under the names of `torch.cuda`.

In the example, y contains the result for the new batch after the replay:

    g = ts.cuda.CUDAGraph()
    x = ts.zeros(1000, device="cuda")
    with ts.cuda.graph(g):
        y = model(x)
    x.copy_(batch); g.replay()

Captured work must have fixed shapes and branches, and Python must not read tensor elements in it. Each replay
draws new random numbers, and writes the results to the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import TracebackType
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.cuda._devices import backend, usable
from ts.cuda.streams import Stream, StreamContext, current_stream

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]


def _graphs() -> Any:
    backend()  # raises RuntimeError if CuPy or a GPU is missing
    return import_module("ts.backends.cuda.cuda_graphs")


def is_current_stream_capturing() -> bool:
    """Return True if the current stream of this thread is capturing a graph."""
    return usable() and _graphs().capturing() is not None


def graph_pool_handle() -> Any:
    """Return a memory pool that graphs can share if they do not run concurrently."""
    return _graphs().GraphPool()


class CUDAGraph:
    """CUDA graph: work of a stream that is captured once and can be replayed."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._graph = _graphs().Graph()

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begin capturing the work of the current stream, which must not be the default stream."""
        if capture_error_mode not in ("global", "thread_local", "relaxed"):
            raise RuntimeError(
                "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got "
                f"{capture_error_mode}"
            )
        self._graph.begin(pool)

    def capture_end(self) -> None:
        """End the capture and instantiate the graph."""
        self._graph.end()

    def replay(self) -> None:
        """Launch the captured work on the current stream."""
        self._graph.replay()

    def reset(self) -> None:
        """Release the graph and its memory."""
        self._graph.reset()

    def pool(self) -> Any:
        """Return the memory pool of the graph, which another graph can share."""
        return self._graph.pool


class graph:
    """Context manager that captures its block in a `CUDAGraph`, by default on a separate stream."""

    def __init__(
        self, cuda_graph: CUDAGraph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
    ) -> None:
        self.cuda_graph = cuda_graph
        self.pool = pool
        self.capture_stream = Stream() if stream is None else stream
        self.capture_error_mode = capture_error_mode
        self._context = StreamContext(self.capture_stream)

    def __enter__(self) -> None:
        backend().synchronize()
        self._context.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self._context.__exit__(None, None, None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.cuda_graph.capture_end()
        finally:
            self._context.__exit__(kind, error, trace)


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
) -> Any:
    """Return functions or modules that replay a graph, which is captured for the sample arguments.

    Arguments of later calls must have the shapes and dtypes of the samples. Each call overwrites the results
    of the previous call. A module whose training mode has changed since the capture runs without the graph.
    """
    if not isinstance(callables, tuple):
        return _graphed(callables, tuple(sample_args), num_warmup_iters, pool)
    together = graph_pool_handle() if pool is None else pool
    return tuple(
        _graphed(function, tuple(args), num_warmup_iters, together)
        for function, args in zip(callables, sample_args, strict=True)
    )


def _graphed(function: Any, samples: tuple[Any, ...], warm: int, pool: Any) -> Any:
    if not all(isinstance(x, Tensor) and x.is_cuda for x in samples):
        raise TypeError("make_graphed_callables requires tensors on a CUDA device as sample_args")
    static_inputs = tuple(x.clone() for x in samples)
    side = Stream()
    side.wait_stream(current_stream())
    with StreamContext(side):
        for _ in range(warm):
            function(*static_inputs)
    current_stream().wait_stream(side)
    cuda_graph = CUDAGraph()
    with graph(cuda_graph, pool=pool):
        results = function(*static_inputs)
    return _with_mode(function, _replaying(cuda_graph, static_inputs, results))


def _replaying(cuda_graph: CUDAGraph, static_inputs: Sequence[Any], results: Any) -> Callable[..., Any]:
    def replayed(*args: Any) -> Any:
        if len(args) != len(static_inputs):
            raise TypeError(f"this graph was captured for {len(static_inputs)} arguments, got {len(args)}")
        for static_input, x in zip(static_inputs, args, strict=True):
            if x.shape != static_input.shape or x.dtype != static_input.dtype:
                raise ValueError(
                    f"this graph was captured for {static_input.dtype} of shape "
                    f"{tuple(static_input.shape)}, not {x.dtype} of shape {tuple(x.shape)}"
                )
            if x.data_ptr() != static_input.data_ptr():
                static_input.copy_(x)
        cuda_graph.replay()
        return results

    return replayed


def _with_mode(function: Any, replayed: Callable[..., Any]) -> Any:
    """Return the module `function`, whose `forward` is replaced by `replayed` in its present mode.

    In the other mode (training or evaluation), the module runs the original `forward`. If `function` is not a
    module, return `replayed`.
    """
    if not hasattr(function, "training"):
        return replayed
    mode, original_forward = function.training, function.forward

    def forward(*args: Any) -> Any:
        return (replayed if function.training == mode else original_forward)(*args)

    function.forward = forward
    return function
