"""Printer of graph text, identical to PyTorch's in layout and names.

Example::

    graph(%x.1 : Tensor,
          %n : int):
      %2 : int = prim::Constant[value=1]() # file.py:3:15
      %y : Tensor = aten::add(%x.1, %n, %2) # file.py:3:11
      return (%y)

A node with a subgraph prints as ``prim::Group_0``. The subgraph follows the graph: ``with prim::Group_0 =
graph(...)``. A tensor attribute prints as ``{1}`` if it has one element. It prints as a matrix if it has up
to ten elements, else as ``<Tensor>``. Bytes above 127 in strings print as octal escapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ts.ir.attributes import REMOTE_CALLS, is_tensor
from ts.ir.lexer import TYPE_VERBOSITY, format_default, quote
from ts.ir.print_tensor import format_tensor
from ts.ir.types import (
    DEVICE,
    ClassType,
    DictType,
    EnumType,
    ListType,
    NoneType,
    OptionalType,
    TensorType,
    Type,
    VarType,
)

if TYPE_CHECKING:
    from ts.ir.graph import Graph, Node, Value

_TextLine = tuple[str, "Node | None"]
_ranges_hidden: ContextVar[bool] = ContextVar("ranges hidden", default=False)


@contextmanager
def hide_source_ranges() -> Iterator[None]:
    """Return a context manager in which graphs are printed without source locations."""
    token = _ranges_hidden.set(True)
    try:
        yield
    finally:
        _ranges_hidden.reset(token)


def to_text(graph: Graph, show_ranges: bool = True) -> str:
    """Return the text of `graph`. If `show_ranges`, every node ends in ``# file:line:column``."""
    return "".join([line for line, _ in to_lines(graph, show_ranges)])


def to_lines(graph: Graph, show_ranges: bool = True) -> list[_TextLine]:
    """Return graph text as a list of (text, node) pairs, where `text` is one or more lines that print `node`.

    The node is None for lines that print no node, such as the header and the return line.
    """
    show_ranges = show_ranges and not _ranges_hidden.get()
    inputs = ",\n      ".join(map(_typed, graph.inputs()))
    out: list[_TextLine] = [(f"graph({inputs}):\n", None)]
    groups: list[Node] = []
    for node in graph.nodes():
        _print_node(node, 1, out, groups, show_ranges)
    out.append((f"  return ({_names(graph.outputs())})\n", None))
    for index, node in enumerate(groups):
        out.append((f"with {node.kind()}_{index} = ", None))
        out += to_lines(node.get("Subgraph"), show_ranges)
    return out


def node_to_text(node: Node, show_ranges: bool = True) -> str:
    """Return the text of a node, including its blocks."""
    out: list[_TextLine] = []
    _print_node(node, 0, out, None, show_ranges)
    return "".join([line for line, _ in out])


def _typed(value: Value) -> str:
    if TYPE_VERBOSITY == 0:
        return f"%{value.debug_name()}"
    return f"%{value.debug_name()} : {value._type.str()}"


def _names(values: Iterable[Value]) -> str:
    return ", ".join([f"%{value.debug_name()}" for value in values])


def _print_node(
    node: Node, level: int, out: list[_TextLine], groups: list[Node] | None, show_ranges: bool
) -> None:
    indent = "  " * level
    kind = node.kind()
    attributes = node.attribute_names()
    is_python = kind == "prim::PythonOp"
    if groups is not None and node.has_attribute("Subgraph") and not is_python:
        kind = f"{kind}_{len(groups)}"
        groups.append(node)
        attributes.remove("Subgraph")
    if kind in REMOTE_CALLS:
        attributes.remove("callee")
    if is_python:
        kind = f"^{node.get('name', '')}"
    line = f"{indent}{', '.join(map(_typed, node.outputs()))} = {kind}"
    if attributes or is_python:
        line += f"[{', '.join([f'{name}={format_attribute(node, name)}' for name in attributes])}]"
    if is_python:
        line += f"({', '.join(map(str, node.scalar_args()))})"
    line += f"({_names(node.inputs())})"
    if node.scope:
        line += f", scope: {node.scope}"
    if show_ranges and node.range is not None:
        location = node.range.location()
        if location:
            line += f" # {location}"
    out.append((line + "\n", node))
    for block_index, block in enumerate(node.blocks()):
        out.append((f"{indent}  block{block_index}({', '.join(map(_typed, block.inputs()))}):\n", None))
        for inner in block.nodes():
            _print_node(inner, level + 2, out, groups, show_ranges)
        out.append((f"{indent}    -> ({_names(block.outputs())})\n", None))


def format_attribute(node: Node, name: str) -> str:
    """Return the text of the value of attribute `name`."""
    kind = node.kind_of(name)
    value = node.get(name)
    if kind == "i":
        return str(int(value))
    if kind == "ival":
        outputs = node.outputs()
        return format_value(value, outputs[0].type() if outputs else None)
    if kind == "g":
        return "<Graph>"
    if kind == "ty":
        return value.str()  # type: ignore[no-any-return]
    if kind == "t":
        return format_tensor(value)
    if kind == "is":
        return f"[{', '.join(str(int(v)) for v in value)}]"
    if kind == "tys":
        return f"[{', '.join(type.str() for type in value)}]"
    if kind in ("fs", "cs", "ss", "ts", "gs"):
        return f"[{', '.join(['<Graph>' if kind == 'gs' else format_value(v) for v in value])}]"
    return format_value(value)


def format_value(value: Any, type: Type | None = None) -> str:
    """Return the text of a constant. `type` determines the element type of an empty container."""
    if value is None:
        return "None"
    if isinstance(type, EnumType):
        return f"{type.qualified_name()}.{getattr(value, 'name', value)}"
    if isinstance(type, ClassType):
        return f"object({id(value):#x})"
    if type is DEVICE:
        return f"torch.device({quote(str(value))})"
    if is_tensor(value):
        return format_tensor(value)
    if isinstance(value, list):
        elem = type.elem if isinstance(type, ListType) else None
        if isinstance(elem, TensorType) and value:
            return "[<Tensors>]"
        contents = f"[{', '.join([format_value(v, elem) for v in value])}]"
        annotated = elem is not None and (not value or _can_hold_none(elem))
        return (
            f"annotate({ListType(elem).annotation_str}, {contents})"
            if annotated and elem is not None
            else contents
        )
    if isinstance(value, tuple):
        elems = type.contained_types() if type is not None else ()
        if len(elems) != len(value):
            elems = (VarType("t"),) * len(value)
        contents = ", ".join([format_value(v, t) for v, t in zip(value, elems, strict=True)])
        return f"({contents},)" if len(value) == 1 else f"({contents})"
    if isinstance(value, dict):
        key, item = (type.key, type.value) if isinstance(type, DictType) else (None, None)
        contents = ", ".join([f"{format_value(k, key)}: {format_value(v, item)}" for k, v in value.items()])
        if type is not None and not value:
            return f"annotate({type.annotation_str},{{{contents}}})"
        return f"{{{contents}}}"
    return format_default(value)


def _can_hold_none(t: Type) -> bool:
    return isinstance(t, (OptionalType, NoneType))
