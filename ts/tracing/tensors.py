"""Methods of tensors that a trace records in a form of its own.

In: a tracer and the call.  Out: the call's result, and nodes in the tracer's graph:

    x.to(torch.float64)       aten::to(%x, %dtype, ...)      by what it names, so that the trace converts too
    torch.tensor([1, 2])      a constant, aten::to, aten::detach: each run of the trace has a copy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts import devices, dtypes
from ts._core.tensor.tensor import Tensor
from ts.ir.types import DEVICE
from ts.tracing import words
from ts.tracing.types import arguments_of_to

if TYPE_CHECKING:
    from ts.tracing.tracer import Tracer


def to(tracer: Tracer, x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """x.to(...): by what it names, so that the trace converts as the function does."""
    with tracer.paused():
        result = x.to(*args, **kwargs)
    place = tracer.place()
    given = arguments_of_to(args, dict(kwargs))
    graph = tracer.graph
    inputs = [tracer.tensor(x)]
    other, device, dtype = given.get("other"), given.get("device"), given.get("dtype")
    if other is not None:
        inputs.append(tracer.tensor(other))
    if device is not None:
        inputs.append(tracer.constant(devices.as_device(device), DEVICE))
    if dtype is not None:
        inputs.append(tracer.constant(dtypes.as_dtype(dtype).code))
    elif other is None and device is not None:
        inputs.append(tracer.constant(None))
    inputs += [tracer.constant(bool(given.get("non_blocking"))), tracer.constant(bool(given.get("copy")))]
    if other is not None or dtype is not None:
        memory_format = given.get("memory_format")
        inputs.append(tracer.constant(None if memory_format is None else memory_format.code))
    node = graph.create("aten::to", inputs)
    node.range = place
    graph.insert_node(node)
    tracer.bind(node.output(), result)
    return result


def constructed(tracer: Tracer, x: Tensor, function: str) -> None:
    """A tensor of Python's numbers: a constant, of which each run of the trace has a copy."""
    if function:
        tracer.warn(words.CONSTRUCTED.format(function))
    with tracer.paused():
        kept = x.clone()  # the function may write to `x`
    value = tracer.insert_tensor(kept, tracer.place())
    graph = tracer.graph
    arguments = [tracer.constant(x.device, DEVICE), tracer.constant(x.dtype.code)]
    arguments += [tracer.constant(False), tracer.constant(True), tracer.constant(None)]
    copied = graph.create("aten::to", (value, *arguments))
    copied.range = tracer.place()
    tracer.bind(graph.insert_node(copied).output(), x)
    detached = graph.create("aten::detach", copied.outputs())
    detached.range = tracer.place()
    tracer.bind(graph.insert_node(detached).output(), x)
