"""Notebook output is escaped HTML, and the notebooks of `examples` run."""

import re
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

import ts

EXAMPLES = Path(__file__).parent.parent / "examples"
HOSTILE = "<img src=x onerror=alert(1)>&\"'"
ALLOWED = {"pre", "b", "div", "details", "summary", "small", "code"}


class Tags(HTMLParser):
    """Collect the tags and attributes of a page and check that all tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.text = set(), [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in ALLOWED and {name for name, _ in attributes} <= {"class", "style", "open"}
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_graphs():
    """The HTML of a graph contains the graph text; special characters in names and strings are escaped."""

    @ts.jit.script
    def f(x, y: str = "<b>&"):
        return x * 2 if y < "<script>alert(1)</script>" else x

    html = f.graph._repr_html_()
    page = Tags(html)
    assert page.text == str(f.graph) and page.seen == {"pre", "b"}
    assert "<b>aten::mul</b>" in html and "<script>" not in html


def test_functions():
    """The HTML of a function contains schema, code, graph and bytecode."""

    @ts.jit.script
    def f(x, text: str = "<script>"):
        return x, text

    page = Tags(f._repr_html_())
    assert {"details", "summary", "code"} <= page.seen
    for part in (str(f.schema), f.code, str(f.graph), f.bytecode):
        assert part in page.text


def test_modules():
    """The HTML of a module contains the tree, with names, options and parameters; names are escaped."""

    class Hostile(ts.nn.Module):
        def extra_repr(self):
            return HOSTILE

    net = ts.nn.Sequential(ts.nn.Linear(3, 4), ts.nn.Sequential(ts.nn.ReLU(), ts.nn.Linear(4, 2)))
    net.add_module(HOSTILE.replace(".", ""), Hostile())
    Hostile.__name__ = HOSTILE
    page = Tags(net._repr_html_())
    assert "in_features=3, out_features=4" in page.text and "26 parameters" in page.text
    assert page.text.count(HOSTILE) >= 2 and "ReLU" in page.text
    scripted = Tags(ts.jit.script(ts.nn.Sequential(ts.nn.Linear(3, 4)))._repr_html_())
    assert "original_name=Linear" in scripted.text and "16 parameters" in scripted.text
    assert "LazyLinear" in Tags(ts.nn.LazyLinear(3)._repr_html_()).text


@pytest.mark.parametrize("x", [ts.ones(2, 3), ts.tensor(1.5), ts.zeros(0, 3), ts.ones(2, device="meta"), ts.ones(2, requires_grad=True)])
def test_tensors(x):
    """The HTML of a tensor contains its shape, dtype, device and text."""
    page = Tags(x._repr_html_())
    assert repr(x) in page.text and "float32" in page.text and str(x.device) in page.text


NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_notebooks_exist():
    assert NOTEBOOKS


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_kernel_runs_the_notebooks(path, tmp_path):
    """A kernel runs the notebooks without an error and with the expected output."""
    if not all(map(find_spec, ("nbclient", "ipykernel"))):
        pytest.skip("needs nbclient and ipykernel (extra notebooks)")
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "error"]
    pages = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert len(pages) >= 3 and all(Tags(html) for html in pages)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_notebooks_run(path, tmp_path, monkeypatch):
    """The cells of a notebook run in order as a program, without a Jupyter kernel."""
    import json

    monkeypatch.chdir(tmp_path)
    cells = json.loads(path.read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    file = tmp_path / "tour.py"
    file.write_text("\n".join(sources))
    scope = {"__name__": "tour", "__file__": str(file)}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    assert scope["loaded"](ts.ones(2, 3)).shape == (2, 4)


def test_notebooks_have_no_outputs():
    """Notebooks in the repository contain no outputs."""
    for path in NOTEBOOKS:
        assert not re.search(r'"output_type"|"execution_count": \d', path.read_text())
