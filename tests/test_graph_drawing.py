"""Drawings of graphs: content, layout, and escaping of names and texts."""

import re
import shutil
import subprocess
import sys
import time
from itertools import combinations
from xml.etree import ElementTree

import pytest

import ts
from tests.test_cli import output
from ts.ir.visualization import arrange, dot, build_diagram, svg
from ts.ir.graph import Graph

SVG = "{http://www.w3.org/2000/svg}"


def branching(x: ts.Tensor, n: int):
    for i in range(n):
        if i % 2 == 0:
            x = x * 2 + i
        else:
            x = ts.tanh(x)
    return x, n


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = ts.nn.Linear(3, 4)

    def forward(self, x):
        return ts.relu(self.layer(x)).sum(dim=[0, 1])


def picture(function):
    diagram = build_diagram(ts.jit.script(function).graph)
    arrange(diagram)
    return diagram


def boxes(picture):
    """Yield all boxes, including those of blocks."""
    for box in picture.boxes:
        yield box
        for inside in box.insides:
            yield from boxes(inside)


def texts(picture):
    return [box.text for box in boxes(picture)]


def test_blocks_are_nested_boxes():
    (loop,) = [box for box in picture(branching).boxes if box.insides]
    assert (loop.text, [inside.text for inside in loop.insides]) == ("prim::Loop", ["body"])
    (branch,) = [box for box in loop.insides[0].boxes if box.insides]
    assert (branch.text, [inside.text for inside in branch.insides]) == ("prim::If", ["then", "else"])
    assert [box.text for box in branch.insides[1].boxes] == ["%x.29", "aten::tanh", "→"]


def test_captured_values_have_edges_to_blocks():
    """A block box has edges from captured values, such as `x` and `i` of the loop body."""
    (loop,) = [box for box in picture(branching).boxes if box.insides]
    body = loop.insides[0]
    (branch,) = [box for box in body.boxes if box.insides]
    sources = [wire.source.text for wire in body.wires if wire.target is branch]
    assert sorted(sources) == ["%i.1 : int", "%x.29 : Tensor", "aten::eq"]


def test_constants_are_drawn_at_their_use():
    """Constants are drawn at their use, except default values such as `alpha` of `add`."""
    diagram = picture(branching)
    lines = {box.text: box.lines for box in boxes(diagram)}
    assert lines["aten::mul"] == ["other = 2"] and lines["aten::add"] == []
    assert not any("Constant" in text for text in texts(diagram))


def test_modules():
    """Attributes are drawn as paths, and call nodes contain the name of the callee."""
    net = ts.jit.script(Net())
    diagram = build_diagram(net.graph)
    assert texts(diagram) == ["%x.1 : Tensor", "call self.layer.forward", "aten::relu", "aten::sum", "return"]
    inlined = {box.text: box.lines for box in boxes(build_diagram(net.inlined_graph))}
    assert inlined["aten::linear"] == ["weight = self.layer.weight", "bias = self.layer.bias"]
    assert inlined["aten::sum"] == ["dim = [0, 1]"]


def test_mutated_lists_are_nodes():
    def appended(n: int):
        xs = [1, 2]
        xs.append(n)
        return xs

    assert texts(picture(appended)) == ["%n.1 : int", "prim::ListConstruct", "aten::append", "return"]


def test_groups_show_their_operators():
    graph = ts.jit.script(branching).graph
    outer = Graph()
    x, n = outer.add_input("x"), outer.add_input("n")
    node = outer.insert_node(outer.create("prim::FusionGroup", [x, n], 2))
    node.set("Subgraph", graph.copy(), "g")
    for value in node.outputs():
        outer.register_output(value)
    (box,) = [box for box in build_diagram(outer).boxes if box.insides]
    assert box.kind == "group" and "prim::Loop" in texts(box.insides[0])


def overlap(a, b):
    return abs(a.x - b.x) < (a.width + b.width) / 2 and a.y < b.y + b.height and b.y < a.y + a.height


def within(picture):
    for box in picture.boxes:
        assert box.width / 2 <= box.x <= picture.width - box.width / 2 and box.y + box.height <= picture.height
        for inside in box.insides:
            assert inside.x >= 0 and inside.x + inside.width <= box.width and inside.y + inside.height <= box.height
            within(inside)
    assert not [(a.text, b.text) for a, b in combinations(picture.boxes, 2) if overlap(a, b)]
    for wire in picture.wires:
        assert wire.source.y + wire.source.height < wire.target.y
    for line in picture.lines:
        assert all(0 <= x <= picture.width and 0 <= y <= picture.height for x, y in line.points)
        assert [y for _, y in line.points] == sorted(y for _, y in line.points)


@pytest.mark.parametrize("seed", range(4))
def test_layout(seed):
    """Boxes do not overlap and are inside of their block; edges point downwards."""
    within(picture(branching))
    within(random_picture(200, seed))


def random_picture(count, seed):
    diagram = build_diagram(random_graph(count, seed))
    arrange(diagram)
    return diagram


def random_graph(count, seed):
    import random

    chosen = random.Random(seed)
    graph = Graph()
    values = [graph.add_input("x"), graph.add_input("y")]
    one = graph.insert_constant(1)
    for _ in range(count):
        inputs = [chosen.choice(values[-9:]), chosen.choice(values), one]
        values.append(graph.insert_node(graph.create("aten::add", inputs)).output())
    graph.register_output(values[-1])
    return graph


def test_distant_values_are_named():
    """A value used far from its definition is drawn again by name, so that edges are short."""
    diagram = random_picture(300, 0)
    again = [box for box in diagram.boxes if box.kind == "again"]
    assert again and all(box.text.startswith("%") and box.names in diagram.boxes for box in again)
    assert max(wire.target.depth - wire.source.depth for wire in diagram.wires) <= 10


def test_two_thousand_nodes():
    """A drawing of two thousand nodes takes about a second; a quadratic layout would take minutes."""
    start = time.process_time()
    text = svg(random_picture(2_000, 1))
    assert time.process_time() - start < 30
    assert text.count('<g class="operator"') == 2_000


def test_blocks_within_many_blocks():
    """Blocks nested too deeply are replaced by their number of nodes."""
    program = ["def f(x: int) -> int:", *(f"{'    ' * (k + 1)}if x > {k}:" for k in range(60))]
    unit = ts.jit.CompilationUnit("\n".join([*program, f"{'    ' * 61}x += 1", "    return x", ""]))
    diagram = build_diagram(unit.f.graph)
    arrange(diagram)
    deepest = [line for box in boxes(diagram) for line in box.lines if line.startswith("…")]
    assert len(deepest) >= 1 and deepest[0].endswith("nodes")


# ---- files -------------------------------------------------------------------------------------------


def test_the_same_graph_gives_the_same_text(tmp_path):
    """A graph has the same drawing in processes with other hash seeds."""
    graph = ts.jit.script(branching).graph
    graph.draw(tmp_path / "g.svg")
    program = "import ts, tests.test_graph_drawing as t\nts.jit.script(t.branching).graph.draw(%r)" % str(tmp_path / "h.svg")
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONHASHSEED": "7", "PYTHONPATH": "."})
    assert (tmp_path / "g.svg").read_bytes() == (tmp_path / "h.svg").read_bytes()


def test_svg(tmp_path):
    """The SVG drawing is valid XML, with a title (node text and source line) for each node."""
    ts.jit.script(branching).graph.draw(tmp_path / "g.svg")
    root = ElementTree.parse(tmp_path / "g.svg").getroot()
    assert root.tag == f"{SVG}svg" and float(root.get("width")) > 100
    titles = ["".join(title.itertext()) for title in root.iter(f"{SVG}title")]
    assert any("aten::tanh(%x.29)\n" in title and title.endswith("x = ts.tanh(x)") for title in titles)
    assert any("test_graph_drawing.py:" in title for title in titles)
    assert "prefers-color-scheme: dark" in root.find(f"{SVG}style").text
    kinds = {group.get("class") for group in root.iter(f"{SVG}g")}
    assert {"input", "output", "again", "flow", "operator", "block", "container"} == kinds


def hostile(x: str):
    print("</text></svg><script>window.evil=1</script>\x00\x1b &amp; \"quoted\\\"")
    return x + "<!--]]>"


def test_untrusted_names_are_escaped(tmp_path):
    graph = ts.jit.script(hostile).graph
    graph.draw(tmp_path / "g.svg")
    graph.draw(tmp_path / "g.dot")
    root = ElementTree.parse(tmp_path / "g.svg").getroot()
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg", "style", "g", "rect", "text", "path", "title",
    }  # fmt: skip
    assert not [name for element in root.iter() for name in element.keys() if name.startswith("on") or "href" in name]
    assert any("</text></svg><script>" in (text.text or "") for text in root.iter(f"{SVG}text"))
    assert '"; }' not in (tmp_path / "g.dot").read_text()


def statements(text):
    """Check that a text is valid Graphviz (closed braces and quotes) and return it without strings."""
    without = re.sub(r'"(?:[^"\\]|\\.)*"', "S", text)
    assert '"' not in without and without.count("{") == without.count("}")
    return without


@pytest.mark.parametrize("function", [branching, hostile, Net()])
def test_dot(function, tmp_path):
    graph = ts.jit.script(function).graph
    graph.draw(tmp_path / "g.gv")
    text = (tmp_path / "g.gv").read_text()
    assert text == dot(build_diagram(graph)) and text.startswith("digraph")
    plain = statements(text)
    assert len(set(re.findall(r"\bn\d+(?= \[label)", plain))) == len(list(boxes(build_diagram(graph))))
    known = set(re.findall(r"(\w+) \[(?:label|shape)=", plain))
    assert {end for pair in re.findall(r"(\w+) -> (\w+)", plain) for end in pair} <= known
    program = shutil.which("dot")
    if program is not None:
        process = subprocess.run([program, "-Tsvg", tmp_path / "g.gv"], capture_output=True, text=True, check=True)
        assert "<svg" in process.stdout and process.stderr == ""


def test_other_suffixes_are_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"written to \.svg, \.dot or \.gv, not to 'g.png'"):
        ts.jit.script(branching).graph.draw(tmp_path / "g.png")


def test_command(tmp_path, capsys):
    program = tmp_path / "drawn.py"
    program.write_text("def double(x: int) -> int:\n    return x * 2\n")
    out = tmp_path / "double.svg"
    assert output(capsys, "graph", f"{program}:double", "--svg", out) == (0, "", f"wrote {out}\n")
    assert "aten::mul" in out.read_text()
    code, _, err = output(capsys, "graph", f"{program}:double", "--svg", tmp_path / "double.png")
    assert code == 2 and "expected a file with the suffix .svg, .dot or .gv" in err
    code, _, err = output(capsys, "graph", f"{program}:double", "--svg", tmp_path / "absent" / "double.svg")
    assert code == 1 and "cannot write" in err and err.count("\n") == 1


def test_in_a_browser(browser, tmp_path):
    """A browser shows the drawing in light and dark colours without network requests."""
    ts.jit.script(hostile).graph.draw(tmp_path / "g.svg")
    colours = []
    for scheme in ("light", "dark"):
        tab = browser.new_page(color_scheme=scheme)
        requests = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto((tmp_path / "g.svg").as_uri())
        box = tab.locator("g.effect")
        assert box.bounding_box()["width"] > 50
        colours.append(box.locator("rect").evaluate("e => getComputedStyle(e).fill"))
        assert len(requests) == 1 and tab.evaluate("window.evil") is None
    assert colours[0] != colours[1]
