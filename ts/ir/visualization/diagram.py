"""Diagram of a graph: boxes for nodes, wires for values, nested diagrams for blocks.

A `Diagram` has no positions. The right side shows the diagram of the function on the left:

    def f(x: Tensor, n: int):            [%x : Tensor]   [%n : int]      inputs
        for i in range(n):                      \\           |
            x = x * 2                     [prim::Loop   |body: ... ]     a box with a nested diagram
        return x                                     |
                                                 [return]

Constants, lists of constants and module attributes are written in the boxes that use them (``weight =
self.conv.weight``). Arguments with default values are omitted. For a distant value (outer block, or many
layers above), a small box repeats the name of the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ts.ir.attributes import is_tensor
from ts.ir.graph_printer import format_attribute, node_to_text
from ts.ir.lexer import format_default
from ts.ir.types import BOOL, ClassType, FunctionType

if TYPE_CHECKING:
    from ts.ir.graph import Block, Graph, Node, Value

_MAX_LABEL_CHARS: Final = 44  # maximum length of a line of text
_MAX_LINES: Final = 8  # maximum number of lines in a box, below the node's kind
# maximum number of layers of a wire. For a longer wire, a box near the user repeats the name of the value
_LONG_WIRE_LAYERS: Final = 10
_MAX_BLOCK_DEPTH: Final = 24  # blocks that are nested more deeply are not drawn
_FOLDED_LISTS: Final = ("prim::ListConstruct", "prim::TupleConstruct")
_MAX_PATH_CHARS: Final = 200  # maximum length of a path such as `self.encoder.layers`
_MAX_INLINE_ELEMENTS: Final = 16  # maximum number of elements of a list that is written in another box
_OPERANDS: Final = {"prim::If": ("condition",), "prim::Loop": ("most turns", "condition")}
_ENDLESS: Final = "9223372036854775807"  # maximum trip count in the graph of a `while` loop
_TITLES: Final = {"prim::If": ("then", "else"), "prim::Loop": ("body",)}


@dataclass(eq=False)
class Port:
    """Output value of a box. `x` is the start of its wires, relative to the middle of the box."""

    text: str
    title: str  # tooltip
    x: float = 0.0


@dataclass(eq=False)
class Box:
    """Box of a node, an input, the results, or a repeated value name."""

    kind: str  # style of the box: a key of the style sheet
    text: str
    lines: list[str] = field(default_factory=list)
    title: str = ""
    ports: list[Port] = field(default_factory=list)
    insides: list[Diagram] = field(default_factory=list)
    node: Node | None = None
    names: Box | None = None  # box that computes the value whose name this box repeats, or None
    depth: int = 0  # length of the longest path from the start of the block
    # Computed by the layout, in pixels: center x, top y, and size without the texts of the ports
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


@dataclass(eq=False)
class Wire:
    """Wire from a port of one box to another box."""

    source: Box
    port: Port
    target: Box


@dataclass(eq=False)
class Line:
    """Polyline that draws a part of a wire. `has_arrow` is True for the part that ends at the target box."""

    points: list[tuple[float, float]]
    has_arrow: bool
    title: str


@dataclass(eq=False)
class Diagram:
    """Diagram of a block."""

    text: str
    boxes: list[Box] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    # Computed by the layout, in pixels
    lines: list[Line] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


def build_diagram(graph: Graph) -> Diagram:
    """Return the diagram of a graph."""
    return _Drawing().block(graph.block(), "", 0)


def cut(label: str, columns: int = _MAX_LABEL_CHARS) -> str:
    """Return a text on one line, truncated to `columns` characters."""
    label = " ".join(label.split())
    return label if len(label) <= columns else f"{label[: columns - 1]}…"


class _Drawing:
    """Builder of the diagrams of all blocks of a graph."""

    def __init__(self) -> None:
        self._ports: dict[Value, tuple[Diagram, Box, Port]] = {}
        self._folded: dict[Value, str | None] = {}
        self._captured: list[Value] = []  # values of outer blocks that nested blocks use

    def block(self, block: Block, title: str, level: int) -> Diagram:
        diagram = Diagram(title)
        for value in block.inputs():
            if not isinstance(value.type(), ClassType) or not _only_attributes(value):
                box = Box("input", _declared(value), title=_declared(value, 500))
                self._add_ports(diagram, box, [value])
                box.ports[0].text = ""  # the box already contains the name and type
        for node in block.nodes():
            if not all(self.folded(value) is not None for value in node.outputs()) or not node.outputs():
                self._node(diagram, node, level)
        self._results(diagram, block)
        return diagram

    def _node(self, diagram: Diagram, node: Node, level: int) -> None:
        inputs = node.inputs()
        label, inputs_left = self._named(node, inputs)
        box = Box(_kind(node), cut(label), title=_title(node), node=node)
        box.lines = list(self._arguments(node, inputs_left))
        blocks = [*node.blocks()]
        if node.has_attribute("Subgraph"):
            blocks.append(node.get("Subgraph").block())
        titles = _TITLES.get(node.kind(), ())
        first_captured = len(self._captured)
        for index, block in enumerate(blocks):
            if block.is_empty() and not block.outputs():
                continue
            if level < _MAX_BLOCK_DEPTH:
                title = titles[index] if index < len(titles) else ""
                box.insides.append(self.block(block, title, level + 1))
            else:
                box.lines.append(f"… {sum(1 for _ in block.nodes())} nodes")
        captured = [value for value in self._captured[first_captured:] if self._ports[value][0] is diagram]
        self._wire(
            diagram, box, [*inputs, *captured], default_depth=diagram.boxes[-1].depth if diagram.boxes else 0
        )
        self._add_ports(diagram, box, node.outputs())

    def _results(self, diagram: Diagram, block: Block) -> None:
        owner = block.owning_node()
        outputs = block.outputs()
        if not outputs and owner is not None:
            return
        box = Box("output", "return" if owner is None else "→", title=_names(outputs))
        for index, value in enumerate(outputs):
            label = self.folded(value)
            if label is not None:
                box.lines.append(cut(f"{index}: {label}" if len(outputs) > 1 else label))
        last_depth = max((other.depth for other in diagram.boxes), default=-1)
        self._wire(diagram, box, outputs, 0, last_depth + 1)
        diagram.boxes.append(box)

    def _add_ports(self, diagram: Diagram, box: Box, values: Iterable[Value]) -> None:
        for value in values:
            port = Port(_declared(value), _declared(value, 500))
            box.ports.append(port)
            self._ports[value] = diagram, box, port
        diagram.boxes.append(box)

    def _wire(
        self, diagram: Diagram, box: Box, values: Iterable[Value], default_depth: int, min_depth: int = 0
    ) -> None:
        """Add wires from the boxes of `values` to `box`, and place `box` in a layer below these boxes.

        The depth of `box` is at least `min_depth`. It is also at least `default_depth` if no value comes from
        a box of `diagram`.
        """
        nearby_ports: list[tuple[Box, Port]] = []
        referenced: list[tuple[Value, Box]] = []
        for value in dict.fromkeys(values):
            if self.folded(value) is not None or value not in self._ports:
                continue
            source_diagram, source, port = self._ports[value]
            if source_diagram is diagram:
                nearby_ports.append((source, port))
            else:
                referenced.append((value, source))
        box.depth = max(
            min_depth,
            default_depth if not nearby_ports else 0,
            *(source.depth + 1 for source, _ in nearby_ports),
            bool(referenced),
        )
        for source, port in nearby_ports:
            if box.depth - source.depth <= _LONG_WIRE_LAYERS:
                diagram.wires.append(Wire(source, port, box))
            else:
                self._add_reference_box(diagram, box, source, port)
        for value, source in referenced:
            self._captured.append(value)
            self._add_reference_box(diagram, box, source, self._ports[value][2])

    def _add_reference_box(self, diagram: Diagram, box: Box, source: Box, port: Port) -> None:
        label = port.text or source.text
        reference_box = Box(
            "again", label.partition(" : ")[0], title=port.title, names=source, depth=box.depth - 1
        )
        reference_box.ports.append(Port("", port.title))
        diagram.boxes.append(reference_box)
        diagram.wires.append(Wire(reference_box, reference_box.ports[0], box))

    # ---- texts of values and arguments in boxes -----------------------------------------------------------

    def folded(self, value: Value) -> str | None:
        """Return the text for a value that is written inside the boxes of its users.

        Return None for a value that has a box and wires.
        """
        if value not in self._folded:
            # An invalid graph may contain a cycle. This entry ends the recursion of `_fold` in the cycle.
            self._folded[value] = None
            self._folded[value] = self._fold(value)
        return self._folded[value]

    def _fold(self, value: Value) -> str | None:
        node, kind = value.node(), value.node().kind()
        if kind == "prim::Constant":
            return cut(_constant(node), _MAX_LABEL_CHARS - 12)
        if kind == "prim::GetAttr":
            base = node.input()
            name = str(node.get("name"))
            if base.node().kind() == "prim::Param":
                is_ours = isinstance(base.type(), ClassType) and _only_attributes(base)
                return f"{base.debug_name()}.{name}" if is_ours else None
            label = self.folded(base)
            return None if label is None or len(label) > _MAX_PATH_CHARS else f"{label}.{name}"
        if kind == "prim::ListConstruct" and value.use_count() != 1:
            return None  # a list with several users gets a box, because it may be mutated
        if kind in _FOLDED_LISTS and node.inputs_size() <= _MAX_INLINE_ELEMENTS:
            labels = [self.folded(operand) for operand in node.inputs()]
            label = ", ".join([each for each in labels if each is not None])
            if None in labels or len(label) > _MAX_LABEL_CHARS - 14:
                return None
            return f"[{label}]" if kind == "prim::ListConstruct" else f"({label}{',' * (len(labels) == 1)})"
        return None

    def _named(self, node: Node, inputs: list[Value]) -> tuple[str, list[Value | None]]:
        """Return the title of a node's box, and the inputs that this title omits.

        In the returned inputs, None replaces each input that the title contains.
        """
        kind = node.kind()
        if kind == "prim::CallFunction" and inputs and self.folded(inputs[0]) is not None:
            return f"call {self.folded(inputs[0])}", [None, *inputs[1:]]
        if kind == "prim::CallMethod" and inputs:
            receiver = self.folded(inputs[0]) or f"%{inputs[0].debug_name()}"
            return f"call {receiver}.{node.get('name', '')}", [None, *inputs[1:]]
        if kind in ("prim::GetAttr", "prim::SetAttr"):
            return f"{kind} {node.get('name')}", [*inputs]
        if kind == "prim::PythonOp":
            return f"^{node.get('name', '')}", [*inputs]
        return kind, [*inputs]

    def _arguments(self, node: Node, inputs: list[Value | None]) -> Iterator[str]:
        """Yield the text lines of the inputs that are written inside the node's box."""
        names = _OPERANDS.get(node.kind())
        if node.kind() == "prim::Loop":
            names = (*_OPERANDS["prim::Loop"], *(f"%{x.debug_name()}" for x in node.blocks()[0].inputs()[1:]))
        schema = node.schema() if names is None else None
        if schema is not None:
            names = tuple(argument.name for argument in schema.arguments)
        lines: list[str] = []
        for index, value in enumerate(inputs):
            label = None if value is None else self.folded(value)
            if label is None or label == _ENDLESS:
                continue
            if schema is not None and index < len(schema.arguments):
                argument = schema.arguments[index]
                if argument.has_default and label == _literal(argument.default):
                    continue
            lines.append(cut(f"{names[index]} = {label}" if names and index < len(names) else label))
        yield from lines[:_MAX_LINES]
        if len(lines) > _MAX_LINES:
            yield f"… {len(lines) - _MAX_LINES} more"


# ---- texts of boxes and tooltips ---------------------------------------------------------------------


def _only_attributes(value: Value) -> bool:
    """Return True if all uses of module `value` are attribute reads and method calls.

    Such a module needs no box, because the boxes of its users contain its name.
    """
    return all(
        use.user.kind() == "prim::GetAttr" or (use.user.kind() == "prim::CallMethod" and use.offset == 0)
        for use in value.uses()
    )


def _constant(node: Node) -> str:
    if not node.has_attribute("value"):
        type = node.output().type()
        function = type.function if isinstance(type, FunctionType) else None
        return "None" if function is None else str(getattr(function, "name", function))
    value = node.get("value")
    if node.output().type() is BOOL:
        return str(bool(value))
    if isinstance(value, int | float | list):
        return _literal(value)
    if is_tensor(value) and hasattr(value, "shape") and not isinstance(value, str):
        sizes = ", ".join(str(int(size)) for size in value.shape)
        return f"Tensor[{sizes}]" if len(value.shape) else format_attribute(node, "value")
    return format_attribute(node, "value")


def _literal(value: Any) -> str:
    """Format a number or a list of numbers as Python source."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return format_default(value)


def _declared(value: Value, columns: int = 30) -> str:
    """Return a value's name and type, such as ``%y.1 : Tensor``, cut to `columns`."""
    type = value.type()
    spelling = type.qualified_name().rpartition(".")[2] if isinstance(type, ClassType) else type.str()
    return f"%{cut(value.debug_name(), columns)} : {cut(spelling, columns)}"


def _names(values: Iterable[Value]) -> str:
    return ", ".join(f"%{value.debug_name()}" for value in values)


def _title(node: Node) -> str:
    """Return a node's tooltip: its text, source location and source line."""
    lines = [cut(node_to_text(node, show_ranges=False).partition("\n")[0], 500)]
    source_range = node.range.origin() or node.range if node.range is not None else None
    if source_range is not None and source_range.location():
        lines.append(source_range.location())
        source = source_range.source
        source_line = source.text.split("\n")[source.line_index(source_range.start)].strip()
        if source_line:
            lines.append(cut(source_line, 200))
    return "\n".join(lines)


_CONTAINERS: Final = ("Construct", "Unpack", "Index", "TupleSlice")


def _kind(node: Node) -> str:
    """Return the style key of a node's box."""
    kind = node.kind()
    namespace, _, name = kind.partition("::")
    if kind in ("prim::If", "prim::Loop", "prim::With", "prim::Enter", "prim::Exit", "prim::fork"):
        return "flow"
    if kind in ("prim::RaiseException", "prim::Print", "aten::warn", "prim::SetAttr"):
        return "effect"
    if kind in ("prim::CallFunction", "prim::CallMethod", "prim::PythonOp") or kind.startswith("^"):
        return "call"
    if node.has_attribute("Subgraph") or "Group" in name:
        return "group"
    if namespace == "aten":
        return "effect" if name.endswith("_") and not name.endswith("__") else "operator"
    if namespace == "prim" and name.endswith(_CONTAINERS):
        return "container"
    return "other" if namespace == "prim" else "operator"
