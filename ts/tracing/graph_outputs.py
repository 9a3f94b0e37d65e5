"""Graph values of the results of a traced function.

Input: a result that consists of tensors, tuples, lists and dicts. Output: its value in the graph. The module
also inserts the nodes that construct the containers. For example, `output_value(tracer, (y, z))` inserts this
node, and returns %3:

    %3 : (Tensor, Tensor) = prim::TupleConstruct(%y, %z)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts._core.tensor.tensor import Tensor
from ts.ir.types import TENSOR, TupleType
from ts.tracing import messages
from ts.tracing.types import check_element_types, is_all_tensors, type_of, value_text

if TYPE_CHECKING:
    from ts.ir.graph import Value
    from ts.tracing.tracer import Tracer


def output_value(tracer: Tracer, x: Any) -> Value:
    """Return the graph value of the result of a traced function. Raise RuntimeError if it is unsupported."""
    if x is None:
        raise RuntimeError(messages.NO_OUTPUT)
    check_element_types(x)
    for i, each in enumerate(x if isinstance(x, tuple | list) else (x,)):
        if isinstance(each, Tensor) and tracer.find(each) is None:
            with tracer.paused():
                description = value_text(each)
            raise RuntimeError(messages.UNKNOWN_OUTPUT.format(i + 1, description))
    return _value(tracer, x, {})


def _value(tracer: Tracer, x: Any, containers: dict[int, Value]) -> Value:
    """Return the graph value of an output, or of an element of an output.

    A container that occurs several times has one value.
    """
    if isinstance(x, Tensor):
        return tracer.find(x) or tracer.tensor(x)
    value = containers.get(id(x))
    if value is None:
        value = containers[id(x)] = _container(tracer, x, containers)
    return value


def _container(tracer: Tracer, x: Any, containers: dict[int, Value]) -> Value:
    if isinstance(x, tuple):
        items = [_value(tracer, item, containers) for item in x]
        node = tracer.graph.insert_node(tracer.graph.create("prim::TupleConstruct", items))
        return node.output().set_type(TupleType([item.type() for item in items]))
    if isinstance(x, list) and is_all_tensors(x):
        if tracer.options.strict:
            tracer.warn(messages.CONTAINER_OUTPUT.format("list"))
        return tracer.construct_list([_value(tracer, item, containers) for item in x], TENSOR)
    if isinstance(x, dict):
        return _dict(tracer, x, containers)
    raise RuntimeError(messages.WRONG_OUTPUT)


def _dict(tracer: Tracer, x: dict[Any, Any], containers: dict[int, Value]) -> Value:
    """Return the graph value of a dict of tensors or tensor tuples. Raise RuntimeError in strict mode."""
    if tracer.options.strict:
        raise RuntimeError(messages.CONTAINER_OUTPUT.format("dict"))
    keys, items = list(x), list(x.values())
    if not (is_all_tensors(keys) or all(isinstance(key, str) for key in keys)) or not all(
        is_all_tensors(item if isinstance(item, tuple) else (item,)) for item in items
    ):
        with tracer.paused():
            raise RuntimeError(messages.WRONG_DICT_OUTPUT.format(value_text(x)))
    pairs = [
        tracer.constant(each) if isinstance(each, str) else _value(tracer, each, containers)
        for pair in x.items()
        for each in pair
    ]
    node = tracer.graph.insert_node(tracer.graph.create("prim::DictConstruct", pairs))
    return node.output().set_type(type_of(x))
