"""Values with shared containers: a list doubled sixty times has 61 lists and 2**60 paths."""

from __future__ import annotations

import contextlib
import copy
import io
import time
from typing import Any, Dict, List, Optional, Tuple

import pytest

import ts
from ts._core.value.ivalue import to_core
from ts._core.value.type_of import infer_spec
from ts.errors import MemoryExceeded, TimeExceeded


def doubled(n: int = 60) -> list[Any]:
    nested: list[Any] = [1]
    for _ in range(n):
        nested = [nested, nested]
    return nested


def paired(n: int = 60) -> dict[int, Any]:
    nested: dict[int, Any] = {1: 2}
    for _ in range(n):
        nested = {1: nested, 2: nested}
    return nested


@ts.jit.script
def same(x: Any) -> Any:
    return x


@ts.jit.script
def in_list(x: List[Any]) -> Any:
    return x[0]


@ts.jit.script
def in_dict(x: Dict[str, Any]) -> Any:
    return x["nest"]


@ts.jit.script
def in_tuple(x: Tuple[Any, int]) -> Any:
    return x[0]


@ts.jit.script
def perhaps(x: Optional[Any]) -> Any:
    return x


@ts.jit.script
def awaited(x: ts.jit.Future[Any]) -> Any:
    return ts.jit.wait(x)


@ts.jit.script
def text(x: Any) -> str:
    return str(x)


@ts.jit.script
def first_grows(x: List[List[int]]) -> List[List[int]]:
    x[0].append(2)
    return x


class Untyped(ts.nn.Module):
    def __init__(self, nest: Any) -> None:
        super().__init__()
        self.nest = nest

    def forward(self):
        return self.nest


class Typed(ts.nn.Module):
    nest: Any

    def __init__(self, nest: Any) -> None:
        super().__init__()
        self.nest = nest

    def forward(self):
        return self.nest


def finished(nest: Any) -> Any:
    future: ts.futures.Future[Any] = ts.futures.Future()
    future.set_result(nest)
    return awaited(future)


def saved(module: Any) -> Any:
    file = io.BytesIO()
    ts.jit.save(module, file)
    file.seek(0)
    return ts.jit.load(file)


CONVERSIONS_BY_NAME = {
    "Any": same,
    "list": lambda nest: in_list([nest]),
    "dict": lambda nest: in_dict({"nest": nest}),
    "tuple": lambda nest: in_tuple((nest, 1)),
    "Optional": perhaps,
    "future": finished,
    "attribute": lambda nest: ts.jit.script(Untyped(nest))(),
    "annotated attribute": lambda nest: ts.jit.script(Typed(nest))(),
    "archive": lambda nest: saved(ts.jit.script(Untyped(nest)))(),
    "archive of an annotated one": lambda nest: saved(ts.jit.script(Typed(nest)))(),
}


@pytest.mark.parametrize("name", CONVERSIONS_BY_NAME)
def test_each_container_is_converted_once(name):
    with ts.limits(seconds=10):
        converted = CONVERSIONS_BY_NAME[name](doubled())
    assert converted[0] is converted[1]
    assert converted[0][0] is converted[1][1]


def test_dicts_too():
    with ts.limits(seconds=10):
        converted = same(paired())
    assert converted[1] is converted[2]


def test_mutations_affect_all_references():
    """A mutation in a script is visible through all references to a container, not in the caller's list."""
    row = [1]
    assert first_grows([row, row, [1]]) == [[1, 2], [1, 2], [1]]
    assert row == [1]


def test_identical_containers_are_equal():
    nest, other = doubled(), doubled()
    converted = to_core(nest, infer_spec(nest))
    assert converted == converted
    with ts.limits(seconds=0.3), pytest.raises(TimeExceeded):
        assert converted != to_core(other, infer_spec(other))


def test_oversized_texts_are_rejected_early():
    start = time.monotonic()
    with ts.limits(bytes=50_000_000), pytest.raises(MemoryExceeded):
        text(doubled())
    assert time.monotonic() - start < 1
    with ts.limits(bytes=50_000_000):
        assert len(text(doubled(10))) == 7164


# ---------------------------------------------------------------- traces


def pairs_of(tensor: ts.Tensor, n: int = 12) -> Any:
    result: Any = tensor
    for _ in range(n):
        result = (result, result)
    return result


def nest_of(tensor: ts.Tensor, n: int = 60) -> list[Any]:
    nested: list[Any] = [tensor]
    for _ in range(n):
        nested = [nested, nested]
    return nested


def test_an_example_of_too_many_parts_is_rejected():
    """An example input with too many nested parts is rejected by the tracer, which copies shared
    containers."""
    pairs: Any = ts.ones(1)
    for _ in range(60):
        pairs = (pairs, pairs)
    for nest in (nest_of(ts.ones(1)), pairs):
        with ts.limits(seconds=10), pytest.raises(RuntimeError, match="too large for a trace"):
            ts.jit.trace(lambda x: x[0], (nest,))


@pytest.mark.filterwarnings("ignore::ts.jit.TracerWarning")
def test_a_result_is_recorded_once_a_container():
    with ts.limits(seconds=10):
        traced = ts.jit.trace(lambda x: pairs_of(x + 1), (ts.ones(1),))
        result = traced(ts.zeros(1))
    assert result[0] is result[1]
    assert str(traced.graph).count("prim::TupleConstruct") == 12


@pytest.mark.filterwarnings("ignore::ts.jit.TracerWarning")
def test_shared_example_inputs_are_separate():
    one = [ts.ones(1)]
    traced = ts.jit.trace(lambda x: x[0][0] - x[1][0], ([one, one],))
    assert traced([[ts.tensor([5.0])], [ts.tensor([3.0])]]).item() == 2


def test_oversized_script_results_in_a_trace_are_rejected():
    grows = ts.jit.CompilationUnit("def f(x):\n    return [[x, x]]\n").f
    with ts.limits(seconds=10), pytest.raises(RuntimeError, match="too large for a trace"):
        ts.jit.trace(lambda x: same(nest_of(x))[0], (ts.ones(1),))
    assert ts.jit.trace(lambda x: grows(x)[0][1], (ts.ones(1),))(ts.ones(1)).item() == 1


# ---------------------------------------------------------------- very deep and self-referencing values


@ts.jit.script
class Link:
    def __init__(self, number: int):
        self.number = number
        self.next: Optional[Link] = None


class Chain(ts.nn.Module):
    first: Link
    items: List[Any]

    def __init__(self) -> None:
        super().__init__()
        self.first = Link(0)
        self.items = [1]

    def forward(self, n: int):
        for i in range(n):
            link = Link(i)
            link.next = self.first
            self.first = link
            items: List[Any] = [1]
            items.append(self.items)
            self.items = items

    @ts.jit.export
    def close(self):
        self.first.next = self.first

    @ts.jit.export
    def close_items(self):
        self.items.append(self.items)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, saved], ids=["copy", "deepcopy", "archive"])
@pytest.mark.parametrize("structure", ["deep", "close", "close_items"])
def test_copies_of_deep_values_terminate(structure, copied):
    """Copies of self-references and 100,000 nested levels succeed or raise an error, without damage."""
    module = ts.jit.script(Chain())
    if structure == "deep":
        module(100_000)
    else:
        getattr(module, structure)()
    with contextlib.suppress(RecursionError):
        copied(module)
    module(1)


def test_limit_during_conversion():
    """A conversion that exceeds a limit raises the limit's error, not a type error."""
    takes = ts.jit.CompilationUnit("def f(x: List[Tuple[int, int]]) -> int:\n    return len(x)\n").f
    with pytest.raises(MemoryExceeded), ts.limits(bytes=1_000_000):
        takes([(i, 2) for i in range(100_000)])
