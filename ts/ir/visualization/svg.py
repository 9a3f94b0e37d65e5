"""Output of diagrams as SVG.

Input: a `Diagram` with a layout. Output: the text of one self-contained file.

Boxes have tooltips. Colours follow the light or dark colour scheme of the system. All texts are escaped, and
characters that XML does not allow are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from ts.ir.visualization.diagram import Box, Diagram, Line
from ts.ir.visualization.layout import BOX_PADDING_PIXELS, LINE_HEIGHT

if TYPE_CHECKING:
    from ts.ir.graph import Node

LIGHT: Final = """\
--paper: #ffffff; --ink: #1d2229; --soft: #66707c; --wire: #8a94a0; --block: #00000008;
--operator: #e3edfb; --flow: #ece4f9; --call: #dff3e6; --group: #fbeecb; --container: #e0f2f3;
--effect: #fbe1dd; --other: #eceff2; --end: #f7f8fa;"""
DARK: Final = """\
--paper: #14171b; --ink: #dde2e8; --soft: #95a0ad; --wire: #66707c; --block: #ffffff0a;
--operator: #1f3553; --flow: #372a54; --call: #1d4230; --group: #4d3f15; --container: #17424a;
--effect: #552a24; --other: #2b3138; --end: #1e2329;"""
RULES: Final = """\
.ts-graph {
  background: var(--paper);
  font: 11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.ts-graph text { fill: var(--ink); text-anchor: middle; }
.ts-graph .line, .ts-graph .port, .ts-graph .block > text { fill: var(--soft); }
.ts-graph rect { stroke: var(--wire); }
.ts-graph .block > rect { fill: var(--block); stroke-dasharray: 2 3; }
.ts-graph .operator > rect { fill: var(--operator); } .ts-graph .flow > rect { fill: var(--flow); }
.ts-graph .call > rect { fill: var(--call); } .ts-graph .group > rect { fill: var(--group); }
.ts-graph .container > rect { fill: var(--container); } .ts-graph .effect > rect { fill: var(--effect); }
.ts-graph .other > rect { fill: var(--other); }
.ts-graph .input > rect, .ts-graph .output > rect { fill: var(--end); }
.ts-graph .again > rect { fill: none; stroke-dasharray: 3 2; } .ts-graph .again text { fill: var(--soft); }
.ts-graph g:hover:not(:has(g:hover)) > rect, .ts-graph .lit > rect { stroke: var(--ink); stroke-width: 1.5; }
.ts-graph path { fill: none; stroke: var(--wire); }
.ts-graph path:hover { stroke: var(--ink); stroke-width: 2; }
.ts-graph .head { fill: var(--wire); stroke: none; }
"""
STYLE: Final = f"""\
.ts-graph {{ {LIGHT} }}
@media (prefers-color-scheme: dark) {{ .ts-graph {{ {DARK} }} }}
{RULES}"""  # light or dark, as the system's colour scheme

# XML attribute that a stand-alone SVG file must have. SVG inside an HTML page does not need it.
_NAMESPACE: Final = ' xmlns="http://www.w3.org/2000/svg"'
_REPLACED: Final = {
    **{code: "\ufffd" for code in (*range(32), 0xFFFE, 0xFFFF) if chr(code) not in "\t\n"},
    **dict.fromkeys(range(127, 160), "\ufffd"),
}

Attributes = Callable[["Node"], str]  # additional attributes of a node's box, as SVG text


def svg(diagram: Diagram, style: str = STYLE, attributes: Attributes = lambda node: "") -> str:
    """Return the diagram as SVG text.

    An empty `style` omits the style sheet and the namespace, for embedding in a page.
    """
    writer = _SvgWriter(attributes)
    size = f"{_decimal(diagram.width)} {_decimal(diagram.height)}"
    width, height = size.split()
    return "".join(
        [
            f"<svg{_NAMESPACE * bool(style)} ",
            f'class="ts-graph" viewBox="0 0 {size}" ',
            f'width="{width}" height="{height}">\n',
            f"<style>{style}</style>\n" if style else "",
            *writer.write_diagram(diagram),
            "</svg>\n",
        ]
    )


class _SvgWriter:
    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes

    def write_diagram(self, diagram: Diagram) -> Iterator[str]:
        for line in diagram.lines:
            yield from self._line(line)
        for box in diagram.boxes:
            yield from self._box(box)

    def _line(self, line: Line) -> Iterator[str]:
        (x, y), (_, bend), (to, end), *further_points = line.points
        middle = _decimal((bend + end) / 2)
        curve = f"C{_decimal(x)} {middle} {_decimal(to)} {middle} {_point(to, end)}"
        path = f"M{_point(x, y)}V{_decimal(bend)}{curve}"
        for _, y_below in further_points:
            path += f"V{_decimal(y_below)}"
        yield f'<path d="{path}"><title>{_escape(line.title)}</title></path>\n'
        if line.has_arrow:
            yield f'<path class="head" d="M{_point(to - 3, end - 6)}h6L{_point(to, end)}z"/>\n'

    def _box(self, box: Box) -> Iterator[str]:
        left = box.x - box.width / 2
        extra_attributes = self._attributes(box.node) if box.node is not None else ""
        yield f'<g class="{box.kind}" transform="translate({_point(left, box.y)})"{extra_attributes}>'
        if box.title:
            yield f"<title>{_escape(box.title)}</title>"
        round = 9 if box.kind in ("input", "output", "again") else 4
        yield f'<rect width="{_decimal(box.width)}" height="{_decimal(box.height)}" rx="{round}"/>'
        middle = box.width / 2
        for index, line in enumerate([box.text, *box.lines]):
            kind = ' class="line"' if index else ""
            baseline = BOX_PADDING_PIXELS / 2 + (index + 0.75) * LINE_HEIGHT
            yield f'<text x="{_decimal(middle)}" y="{_decimal(baseline)}"{kind}>{_escape(line)}</text>'
        for nested in box.insides:
            yield from self._block(nested)
        for port in box.ports:
            if port.text:
                coordinates = f'x="{_decimal(middle + port.x)}" y="{_decimal(box.height + 13)}"'
                yield f'<text class="port" {coordinates}>{_escape(port.text)}</text>'
        yield "</g>\n"

    def _block(self, diagram: Diagram) -> Iterator[str]:
        yield f'\n<g class="block" transform="translate({_point(diagram.x, diagram.y)})">'
        yield f'<rect width="{_decimal(diagram.width)}" height="{_decimal(diagram.height)}" rx="6"/>'
        if diagram.text:
            yield f'<text x="{_decimal(diagram.width / 2)}" y="18">{_escape(diagram.text)}</text>'
        yield "\n"
        yield from self.write_diagram(diagram)
        yield "</g>\n"


def _escape(string: str) -> str:
    string = string.encode("utf-8", "replace").decode("utf-8")  # replaces surrogates, invalid in UTF-8
    return escape(string.translate(_REPLACED))


def _decimal(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _point(x: float, y: float) -> str:
    return f"{_decimal(x)} {_decimal(y)}"
