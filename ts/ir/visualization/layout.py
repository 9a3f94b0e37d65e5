"""Layered graph drawing (Sugiyama layout) of a diagram, with crossing minimization.

The layout sets the positions of boxes and the points of wires in a `Diagram`::

    layer 0        [%x]      [%n]         every wire goes down, from a layer to the next
    layer 1       [mul]       :           a wire that crosses a layer reserves a slot in it
    layer 2           [prim::Loop]        nested blocks are laid out first and determine their box's size

1. Layers: a box is below all boxes that it reads. A box without inputs is directly above its users.
2. Order within the layers: alternating downward and upward sweeps sort boxes by the mean position of their
   neighbours. The order with the fewest crossings is used.
3. Columns: boxes move as near to their neighbours as the order allows. This is an isotonic regression, solved
   by pooling adjacent violators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final
from unicodedata import east_asian_width

from ts.ir.visualization.diagram import Box, Diagram, Line, Port

CHARACTER_WIDTH: Final = 7.0  # pixels per character in the diagram's font
LINE_HEIGHT: Final = 16.0  # pixels per line of text
BOX_PADDING_PIXELS: Final = 8.0
_PORT_HEIGHT: Final = 17.0  # height of the port texts below a box, in pixels
_BOX_GAP_PIXELS: Final = 18.0  # horizontal distance between the boxes of a layer
_LAYER_GAP_PIXELS: Final = 30.0  # vertical distance between two layers
_BLOCK_MARGIN_PIXELS: Final = 14.0  # distance between a nested block and the border of its box
_TITLE_HEIGHT: Final = 18.0  # height of a block's title, in pixels
_ORDERING_PASSES: Final = 8
_PLACEMENT_PASSES: Final = 10
_MIN_OFFSET: Final = 4.0
_WIRE_LANE_WIDTH: Final = 8.0  # width in pixels that a wire takes in each layer that it crosses


class _Slot:
    """Slot in a layer, occupied by a box or by a passing wire."""

    __slots__ = ("box", "down", "order", "up", "width", "x")

    def __init__(self, box: Box | None, width: float, order: int) -> None:
        self.box = box
        self.width = width
        self.order = order
        self.x = 0.0
        # (slot in the layer above, x offset of the wire from the center of this slot)
        self.up: list[tuple[_Slot, float]] = []
        self.down: list[tuple[_Slot, float]] = []


def text_width(label: str) -> float:
    """Return the width of a text in a monospaced font, in pixels."""
    count = len(label) if label.isascii() else sum(1 + (east_asian_width(c) in "WF") for c in label)
    return count * CHARACTER_WIDTH


def arrange(diagram: Diagram) -> None:
    """Assign positions to all boxes and points to all wires of the diagram."""
    for box in diagram.boxes:
        for nested in box.insides:
            arrange(nested)
        _measure(box)
    layers, wires = _layers(diagram)
    _order(layers)
    _columns(layers)
    _set_rows(diagram, layers, wires)


def _measure(box: Box) -> None:
    """Set the size of a box, the positions of the diagrams in it, and the x offsets of its ports."""
    lines = [box.text, *box.lines]
    box.width = max(text_width(line) for line in lines) + 2 * BOX_PADDING_PIXELS
    box.height = len(lines) * LINE_HEIGHT + BOX_PADDING_PIXELS
    if box.insides:
        top, right = box.height, BOX_PADDING_PIXELS
        for nested in box.insides:
            nested.x, nested.y = right, top
            right += nested.width + BOX_PADDING_PIXELS
        box.width = max(box.width, right)
        box.height = top + max(nested.height for nested in box.insides) + BOX_PADDING_PIXELS
        margin = (box.width - right) / 2
        for nested in box.insides:
            nested.x += margin
    widths = [text_width(port.text) + BOX_PADDING_PIXELS for port in box.ports]
    left = -sum(widths) / 2
    for port, width in zip(box.ports, widths, strict=True):
        port.x = left + width / 2
        left += width


def _width_with_ports(box: Box) -> float:
    """Return the width of a box including its ports."""
    return max(box.width, sum(text_width(port.text) + BOX_PADDING_PIXELS for port in box.ports))


# ---- assignment of boxes to layers -------------------------------------------------------------------

# (port, slots) for each wire: the port at which it starts, and the slots on its way from source to target
_Wires = list[tuple[Port, list[_Slot]]]


def _layers(diagram: Diagram) -> tuple[list[list[_Slot]], _Wires]:
    """Return the slots of each layer, and the slots of each wire.

    Each slot has references to its neighbours in the layers above and below. Wires of one value share slots.
    """
    depth = {box: box.depth for box in diagram.boxes}
    consumers = {wire.target for wire in diagram.wires}
    users: dict[Box, list[int]] = defaultdict(list)
    for wire in diagram.wires:
        users[wire.source].append(depth[wire.target])
    for box, user_depths in users.items():
        if box not in consumers:
            depth[box] = min(user_depths) - 1
    layers: list[list[_Slot]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]

    def add_slot(layer: int, box: Box | None, width: float) -> _Slot:
        slot = _Slot(box, width, len(layers[layer]))
        layers[layer].append(slot)
        return slot

    box_slots = {box: add_slot(depth[box], box, _width_with_ports(box)) for box in diagram.boxes}
    wires: _Wires = []
    # Port -> slots of its wires in the layers below its box. All wires of a port share these slots.
    lanes: dict[Port, list[_Slot]] = {}
    for wire in sorted(diagram.wires, key=lambda wire: depth[wire.target] - depth[wire.source]):
        lane = lanes.setdefault(wire.port, [])
        crossed_layers = depth[wire.target] - depth[wire.source] - 1
        while len(lane) < crossed_layers:
            step = add_slot(depth[wire.source] + 1 + len(lane), None, _WIRE_LANE_WIDTH)
            _join(lane[-1] if lane else box_slots[wire.source], step, 0.0 if lane else wire.port.x)
            lane.append(step)
        route = [box_slots[wire.source], *lane[:crossed_layers], box_slots[wire.target]]
        _join(route[-2], route[-1], 0.0 if crossed_layers else wire.port.x)
        wires.append((wire.port, route))
    return layers, wires


def _join(above: _Slot, below: _Slot, x: float) -> None:
    above.down.append((below, -x))
    below.up.append((above, x))


# ---- order of boxes in layers ------------------------------------------------------------------------


def _order(layers: Sequence[list[_Slot]]) -> None:
    """Sort the slots of each layer by the mean position of their neighbours in the adjacent layer.

    Several sweeps sort all layers. Keep the order with the fewest crossings.
    """
    best, fewest = [[*layer] for layer in layers], _crossings(layers)
    for sweep in range(_ORDERING_PASSES):
        if fewest == 0:
            break
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            middles = {}
            for slot in layer:
                neighbour_orders = [
                    neighbour.order for neighbour, _ in (slot.up if sweep % 2 == 0 else slot.down)
                ]
                total = sum(neighbour_orders)
                middles[slot] = total / len(neighbour_orders) if neighbour_orders else float(slot.order)
            layer.sort(key=lambda slot: (middles[slot], slot.order))
            for order, slot in enumerate(layer):
                slot.order = order
        count = _crossings(layers)
        if count < fewest:
            best, fewest = [[*layer] for layer in layers], count
    for layer, best_layer in zip(layers, best, strict=True):
        layer[:] = best_layer
        for order, slot in enumerate(layer):
            slot.order = order


def _crossings(layers: Iterable[list[_Slot]]) -> int:
    """Return the number of crossing wire pairs, counted as inversions with a Fenwick tree."""
    count = 0
    for layer in layers:
        end_positions = [order for slot in layer for order in sorted(below.order for below, _ in slot.down)]
        # Fenwick tree with the number of wire ends at each position
        tree = [0] * (max(end_positions, default=-1) + 2)
        for index, end in enumerate(end_positions):
            tree_index = end + 1
            count += index
            while tree_index:
                count -= tree[tree_index]
                tree_index &= tree_index - 1
            tree_index = end + 1
            while tree_index < len(tree):
                tree[tree_index] += 1
                tree_index += tree_index & -tree_index
    return count


# ---- x coordinates of boxes --------------------------------------------------------------------------


def _columns(layers: Sequence[list[_Slot]]) -> None:
    """Set the x coordinates of the slots."""
    for layer in layers:
        _fit_positions(layer, [0.0] * len(layer))
    for sweep in range(_PLACEMENT_PASSES):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            desired: list[float] = []
            for previous, slot in zip([None, *layer], layer, strict=False):
                neighbours = slot.up if sweep % 2 == 0 else slot.down
                neighbours = [*slot.up, *slot.down] if sweep >= _PLACEMENT_PASSES - 2 else neighbours
                if neighbours:
                    desired.append(sum(other.x + x for other, x in neighbours) / len(neighbours))
                elif previous is None or slot.up or slot.down:
                    desired.append(slot.x)
                else:  # a slot without wires is placed next to the previous slot
                    desired.append(desired[-1] + (previous.width + slot.width) / 2 + _BOX_GAP_PIXELS)
            _fit_positions(layer, desired)
    for layer in layers:
        # If a wire bends by less than _MIN_OFFSET, move its slot so that the wire is straight. The slot
        # cannot overlap others, because the gaps between slots are wider than _MIN_OFFSET.
        for slot in layer:
            if slot.box is None and abs(slot.up[0][0].x + slot.up[0][1] - slot.x) < _MIN_OFFSET:
                slot.x = slot.up[0][0].x + slot.up[0][1]
    left = min((slot.x - slot.width / 2 for layer in layers for slot in layer), default=0.0)
    for layer in layers:
        for slot in layer:
            slot.x += _BLOCK_MARGIN_PIXELS - left


def _fit_positions(layer: Sequence[_Slot], desired: Sequence[float]) -> None:
    """Set the x coordinates of slots as near to `desired` as possible, in order and without overlap.

    The method is isotonic regression. Slots of wires that cross the layer have a higher weight than boxes, so
    that these wires are straight.
    """
    offsets, offset = [], 0.0
    for index, slot in enumerate(layer):
        if index:
            offset += (layer[index - 1].width + slot.width) / 2 + _BOX_GAP_PIXELS
        offsets.append(offset)
    # (sum of weighted desired x, sum of weights, number of slots) for each pool of adjacent slots
    pools: list[tuple[float, float, int]] = []
    for slot, desired_x, offset in zip(layer, desired, offsets, strict=True):
        weight = 4.0 if slot.box is None else 1.0
        total, weights, count = (desired_x - offset) * weight, weight, 1
        while pools and pools[-1][0] / pools[-1][1] > total / weights:
            previous = pools.pop()
            total, weights, count = total + previous[0], weights + previous[1], count + previous[2]
        pools.append((total, weights, count))
    first = 0
    for total, weights, count in pools:
        for index in range(first, first + count):
            layer[index].x = total / weights + offsets[index]
        first += count


# ---- y coordinates of boxes, points of wires ---------------------------------------------------------


def _set_rows(diagram: Diagram, layers: Sequence[list[_Slot]], wires: _Wires) -> None:
    top = _BLOCK_MARGIN_PIXELS + (_TITLE_HEIGHT if diagram.text else 0.0)
    edges: dict[_Slot, tuple[float, float]] = {}  # slot -> (top, bottom) of its layer
    for layer in layers:
        height = max((_height(slot.box) for slot in layer if slot.box is not None), default=0.0)
        for slot in layer:
            edges[slot] = top, top + height
            if slot.box is not None:
                slot.box.x, slot.box.y = slot.x, top
        top += height + _LAYER_GAP_PIXELS
    right = max((slot.x + slot.width / 2 for layer in layers for slot in layer), default=0.0)
    diagram.width = max(right + _BLOCK_MARGIN_PIXELS, text_width(diagram.text) + 2 * _BLOCK_MARGIN_PIXELS)
    diagram.height = max(top - _LAYER_GAP_PIXELS + _BLOCK_MARGIN_PIXELS, 2 * _BLOCK_MARGIN_PIXELS)
    arriving: dict[Box, list[tuple[float, int]]] = defaultdict(list)
    for wire_index, (port, route) in enumerate(wires):
        box = route[-1].box
        assert box is not None
        arriving[box].append((route[-2].x + (port.x if len(route) == 2 else 0.0), wire_index))
    end_x: dict[int, float] = {}
    # distribute the ends of the box's incoming wires over its upper edge
    for box, arrivals in arriving.items():
        for order, (_, wire_index) in enumerate(sorted(arrivals)):
            end_x[wire_index] = box.x + box.width * ((order + 1) / (len(arrivals) + 1) - 0.5)
        if len(arrivals) == 1 and abs(arrivals[0][0] - box.x) < _MIN_OFFSET:
            end_x[arrivals[0][1]] = arrivals[0][0]
    drawn_segments = set()
    for wire_index, (port, route) in enumerate(wires):
        for above, below in pairwise(route):
            is_end = below is route[-1]
            if not is_end and (above, below) in drawn_segments:
                continue
            drawn_segments.add((above, below))
            x = above.x + (port.x if above.box is not None else 0.0)
            start = edges[above][0] + (_height(above.box) if above.box is not None else 0.0)
            target = end_x[wire_index] if is_end else below.x
            points = [(x, start), (x, edges[above][1]), (target, edges[below][0])]
            if not is_end:
                points.append((target, edges[below][1]))
            diagram.lines.append(Line(points, is_end, port.title))


def _height(box: Box) -> float:
    return box.height + (_PORT_HEIGHT if any(port.text for port in box.ports) else 0.0)
