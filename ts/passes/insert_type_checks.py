"""Run-time type checks (type guards) of tensors, inserted into a graph as nodes.

Rank, dtype, device, sizes, strides and `requires_grad` are tested in this order.
`insert_type_check(graph, %x, Float(2, *, device=cpu))` inserts these nodes:

    %d : int = aten::dim(%x)
    %two : int = prim::Constant[value=2]()
    %r : bool = aten::eq(%d, %two)
    %ok : bool = prim::If(%r)
      block0():
        ...

Unknown properties of the type are not checked. In `no_grad` mode, `insert_type_check` treats every tensor as
one that does not require grad. `insert_gradient_check` reads the tensor's `requires_grad` in all modes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ts.devices import device
from ts.ir.graph import Graph, Value
from ts.ir.types import BOOL, TensorType

Check = Callable[[], Value]


def insert_type_check(graph: Graph, value: Value, type: TensorType) -> Value:
    """Insert nodes that check whether `value` conforms to `type`, and return the bool result."""
    return insert_all(graph, _type_checks(graph, value, type))


def insert_gradient_check(graph: Graph, value: Value, type: TensorType) -> Value:
    """Insert nodes that test whether `requires_grad` of `value` is as in `type`. Return the bool result."""
    expected = type._requires_grad
    if expected is None:
        return graph.insert_constant(True)
    actual = graph.insert("prim::requires_grad", [value])
    return actual if expected else graph.insert("aten::__not__", [actual])


def insert_all(graph: Graph, checks: Iterable[Check]) -> Value:
    """Insert the checks in order, and return their conjunction (a bool value).

    At run time, no check runs after a failed one.
    """
    first, *rest = [*checks] or [lambda: graph.insert_constant(True)]
    condition = first()
    if not rest:
        return condition
    choice = graph.insert_node(graph.create_if(condition, 1))
    for block, block_checks in zip(
        choice.blocks(), (rest, [lambda: graph.insert_constant(False)]), strict=True
    ):
        with graph.inserting_at_end(block):
            block.register_output(insert_all(graph, block_checks))
    return choice.output().set_type(BOOL)


def _type_checks(graph: Graph, value: Value, type: TensorType) -> Iterator[Check]:
    def equal(kind: str, expected: object, *inputs: object) -> Check:
        return lambda: graph.insert("aten::eq", [graph.insert(kind, [value, *inputs]), expected])

    if type.scalar_type is not None:
        yield equal("prim::dtype", type.scalar_type)
    expected_device = type.device()
    if expected_device is not None:
        yield equal("prim::device", device(str(expected_device)))
    # The private fields are read, because `sizes()` and `strides()` return None if only one of the numbers is
    # unknown.
    sizes, strides = type._sizes, type._strides
    if (per_dimension := strides if sizes is None else sizes) is not None:
        yield equal("aten::dim", len(per_dimension))
    for i, size in enumerate(sizes or ()):
        if size is not None:
            yield equal("aten::size", size, i)
    for i, stride in enumerate(strides or ()):
        if stride is not None:
            yield equal("aten::stride", stride, i)
    yield from _gradient_checks(graph, value, type)


def _gradient_checks(graph: Graph, value: Value, type: TensorType) -> Iterator[Check]:
    # The private field is read, because it is None if the flag is unknown, whereas `requires_grad()` returns
    # True.
    requires_grad = type._requires_grad
    if requires_grad is None:
        return
    if requires_grad:
        yield lambda: graph.insert("aten::is_grad_enabled", [])
        yield lambda: graph.insert("prim::requires_grad", [value])
        return

    def requires_none() -> Value:
        records_gradient = insert_all(
            graph,
            [
                lambda: graph.insert("prim::requires_grad", [value]),
                lambda: graph.insert("aten::is_grad_enabled", []),
            ],
        )
        return graph.insert("aten::__not__", [records_gradient])

    yield requires_none
