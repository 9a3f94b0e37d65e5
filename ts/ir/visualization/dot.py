"""Output of diagrams in the DOT language of Graphviz, which computes the layout.

Input: a `Diagram` without a layout. Output: DOT text. Example for one operator::

    digraph "graph" {
      n1 [label="%x : Tensor" ...];
      n2 [label="aten::mul\\nother = 2" tooltip="..." ...];
      n1 -> n2 [label="%x : Tensor"];
    }

A box with blocks becomes a cluster, with one node for its name and a small node for its results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ts.ir.visualization.diagram import Box, Diagram

_COLOURS: Final = {
    "operator": "#e3edfb",
    "flow": "#ece4f9",
    "call": "#dff3e6",
    "group": "#fbeecb",
    "container": "#e0f2f3",
    "effect": "#fbe1dd",
    "other": "#eceff2",
    "input": "#f7f8fa",
    "output": "#f7f8fa",
}


def dot(diagram: Diagram) -> str:
    """Return the diagram in Graphviz's language."""
    lines = [
        'digraph "graph" {\n',
        '  node [shape=box style="rounded,filled" fillcolor="#ffffff" fontname="monospace" fontsize=10];\n',
        '  edge [fontname="monospace" fontsize=9 color="#8a94a0" fontcolor="#66707c"];\n',
    ]
    return "".join([*lines, *_DotWriter().write_diagram(diagram, 1), "}\n"])


class _DotWriter:
    def __init__(self) -> None:
        self._names: dict[Box, str] = {}
        self._clusters = 0

    def write_diagram(self, diagram: Diagram, level: int) -> Iterator[str]:
        indent = "  " * level
        for box in diagram.boxes:
            yield from self._box(box, level)
        for wire in diagram.wires:
            source, target = self._names[wire.source], self._names[wire.target]
            begins = f"{source}_out" if wire.source.insides else source
            label = f" [label={_quoted(wire.port.text)}]" if wire.port.text else ""
            yield f"{indent}{begins} -> {target}{label};\n"

    def _box(self, box: Box, level: int) -> Iterator[str]:
        indent = "  " * level
        name = self._names[box] = f"n{len(self._names) + 1}"
        label = _quoted("\n".join([box.text, *box.lines]))
        style = f'fillcolor="{_COLOURS[box.kind]}"' if box.kind in _COLOURS else 'style="dashed"'
        statement = f"{name} [label={label} tooltip={_quoted(box.title)} {style}];\n"
        if not box.insides:
            yield f"{indent}{statement}"
            return
        yield from self._cluster("", level)
        yield f"{indent}  {statement}{indent}  {name}_out [shape=point];\n"
        for nested in box.insides:
            yield from self._cluster(nested.text, level + 1)
            yield from self.write_diagram(nested, level + 2)
            yield f"{indent}  }}\n"
            for first, last in zip(nested.boxes[:1], nested.boxes[-1:], strict=True):
                yield f"{indent}  {name} -> {self._names[first]} [style=invis];\n"
                yield f"{indent}  {self._names[last]} -> {name}_out [style=invis];\n"
        yield f"{indent}}}\n"

    def _cluster(self, title: str, level: int) -> Iterator[str]:
        self._clusters += 1
        indent = "  " * level
        yield f"{indent}subgraph cluster_{self._clusters} {{\n"
        yield f'{indent}  label={_quoted(title)}; style="rounded"; color="#8a94a0";\n'


def _quoted(label: str) -> str:
    label = label.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
