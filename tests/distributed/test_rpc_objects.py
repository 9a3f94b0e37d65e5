"""Objects of scripted classes, enums and named tuples as arguments and results of calls."""

from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import pytest

import ts
from ts import Tensor

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from ts.distributed import rpc, wire_values
from ts.distributed.rpc.type_signatures import Signature

pytestmark = pytest.mark.usefixtures("three_workers")


class Color(Enum):
    RED = 1
    GREEN = 2


class Pair(NamedTuple):
    left: Tensor
    right: int


@ts.jit.script
class Point:
    def __init__(self, x: float, tags: List[str]):
        self.x = x
        self.tags = tags

    def moved(self, by: float) -> "Point":
        return Point(self.x + by, self.tags + ["moved"])


@ts.jit.script
class Segment:
    def __init__(self, segment_ends: Tuple[Point, Point], color: Color):
        self.ends = segment_ends
        self.color = color


@ts.jit.script
def moved(point: Point, color: Color, by: float = 1.0) -> Segment:
    return Segment((point, point.moved(by)), color)


@ts.jit.script
def swapped(pair: Pair, colors: Dict[str, Color]) -> Tuple[Pair, List[Color]]:
    return Pair(pair.left + pair.right, pair.right + 1), list(colors.values())


@ts.jit.script
def either(x: Union[Point, int], last: Optional[Pair]) -> Union[Point, int]:
    if isinstance(x, int):
        return x if last is None else last.right
    return x.moved(0.5)


@ts.jit.script
def asks(to: str, segment: Segment) -> Segment:
    """Call a script with objects and return its result."""
    return rpc.rpc_sync(to, moved, (segment.ends[1], Color.GREEN, 2.0))


def test_objects_and_enums():
    segment = rpc.rpc_sync("worker1", moved, args=(Point(1.0, ["a"]), Color.RED))
    first, second = segment.ends
    assert type(segment) is Segment and type(first) is Point and segment.color is Color.RED
    assert (first.x, first.tags, second.x, second.tags) == (1.0, ["a"], 2.0, ["a", "moved"])


def test_named_tuples():
    pair, colors = rpc.rpc_async(
        "worker1", swapped, args=(Pair(ts.ones(2), 3),), kwargs={"colors": {"x": Color.GREEN}}
    ).wait()
    assert type(pair) is Pair and pair.left.tolist() == [4.0, 4.0] and pair.right == 4
    assert colors == [Color.GREEN]


def test_unions_and_optionals():
    assert rpc.rpc_sync("worker1", either, args=(3, None)) == 3
    assert rpc.rpc_sync("worker1", either, args=(3, Pair(ts.ones(1), 8))) == 8
    assert rpc.rpc_sync("worker1", either, args=(Point(1.0, []), None)).x == 1.5


def test_remote_values_of_objects():
    ref = rpc.remote("worker1", moved, args=(Point(1.0, []), Color.RED, 3.0))
    assert ref.to_here().ends[1].x == 4.0


def test_scripts_pass_objects_on():
    segment = Segment((Point(0.0, []), Point(5.0, [])), Color.RED)
    found = rpc.rpc_sync("worker1", asks, args=("worker2", segment))
    assert (found.ends[1].x, found.color) == (7.0, Color.GREEN)


def test_objects_of_other_classes():
    class Stranger:
        pass

    with pytest.raises(TypeError, match="Stranger cannot be sent to another process"):
        rpc.rpc_sync("worker1", moved, args=(Stranger(), Color.RED))
    with pytest.raises(TypeError, match="Point cannot be sent to another process"):
        rpc.rpc_sync("worker1", ts.add, args=(Point(1.0, []), 1))


@ts.jit.script
def twice_named(first: Pair, second: Optional[Pair], color: Color) -> Tuple[Color, Pair]:
    return color, first


def test_a_named_tuple_used_twice_in_a_signature():
    color, pair = rpc.rpc_sync("worker1", twice_named, args=(Pair(ts.ones(1), 2), None, Color.GREEN))
    assert color is Color.GREEN and pair.right == 2


def test_classes_of_one_name():
    """Classes of equal names stay distinct, locally and in another process."""

    def another():
        @ts.jit.script
        class Point:
            def __init__(self, y: int):
                self.y = y

        return Point

    Other = another()

    @ts.jit.script
    def exchanged(a: Point, b: Other) -> Tuple[Other, Point]:
        return b, a

    for to in ("worker0", "worker1"):
        other, point = rpc.rpc_sync(to, exchanged, args=(Point(1.0, []), Other(3)))
        assert (type(other), other.y, type(point), point.x) == (Other, 3, Point, 1.0)

    @ts.jit.script
    def moves(a: Point) -> float:
        return a.x

    with pytest.raises(TypeError, match="Point cannot be sent"):
        rpc.rpc_sync("worker1", moves, args=(Other(3),))


# ---- received types

NOMINAL = wire_values.Tag.NOMINAL


@pytest.mark.parametrize(
    "data",
    [
        (NOMINAL,), (NOMINAL, 99), (NOMINAL, -1), (NOMINAL, "Point"), (NOMINAL, None, 1), (NOMINAL, 0),
        (NOMINAL, 0, 1.0), (NOMINAL, 0, "no number", (0,)), (NOMINAL, 0, 1.0, (0, 3)), (NOMINAL, 1),
        (NOMINAL, 1, "BLUE"), (NOMINAL, 1, "__class__"), (NOMINAL, 1, 3), (NOMINAL, 1, "RED", "RED"),
        (NOMINAL, 2, (1, 1), (NOMINAL, 1, "RED")),
    ],
    ids=str,
)  # fmt: skip
def test_malformed_objects(data):
    signature = Signature(moved.schema)
    wire_context = wire_values.WireContext(rpc.RRef, repr, repr, signature)
    with pytest.raises(wire_values.MalformedValueError):
        wire_values.unpack((data, []), wire_context)


def test_numbers_of_types():
    """The type numbers in messages follow from the signature, in order of first use."""
    names = [type.qualified_name().rpartition(".")[2] for type in Signature(moved.schema).types]
    assert names == ["Point", "Color", "Segment"]
