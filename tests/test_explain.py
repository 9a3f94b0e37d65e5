"""`ts explain`: collected facts, the page, and its behaviour in a browser."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

import ts
from tests.test_cli import output
from ts.report import collect, page


def called(x: ts.Tensor) -> ts.Tensor:
    return ts.tanh(x * x + x)


def looping(x: ts.Tensor, n: int) -> ts.Tensor:
    total = 0
    for i in range(n):
        if i % 2 == 0:
            total += i
    y = called(x)
    return ts.mm(y, y) + total


def recursive(n: int) -> int:
    if n < 2:
        return n
    return recursive(n - 1) + recursive(n - 2)


def hostile(x: ts.Tensor) -> str:
    text = "</script></pre><img src=x onerror='window.evil=1'><script>window.evil=1</script>"
    print(text)
    return text + "&lt;" + str(x.size(0))


class Block(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = ts.nn.Linear(3, 3)

    def forward(self, x):
        return ts.relu(self.layer(x))


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x):
        return self.second(self.first(x)).sum()


def line_of(facts, text):
    results = [line for part in facts.functions for line in part.lines if text in line.text]
    assert len(results) == 1, text
    return results[0]


@pytest.fixture(scope="module")
def report():
    return collect(ts.jit.script(looping), (ts.rand(4, 4), 10))


def test_functions_and_lines(report):
    """The report lists the function and its callees once each, with their source lines."""
    assert [part.name.rpartition(".")[2] for part in report.functions] == ["looping", "called"]
    first, callee = report.functions
    assert first.file == __file__ and first.lines[0].number == looping.__code__.co_firstlineno
    assert [line.text for line in callee.lines] == [
        "def called(x: ts.Tensor) -> ts.Tensor:", "    return ts.tanh(x * x + x)",
    ]  # fmt: skip


def test_execution_counts_of_lines(report):
    assert line_of(report, "if i % 2").times == 10 and line_of(report, "total += i").times == 5
    assert line_of(report, "ts.mm").times == 1 and line_of(report, "def looping").times == 0


def test_times_of_lines_sum_to_the_call(report):
    """The time of a call is the sum of its lines; callees are counted in their own lines and shown separately
    at the call."""
    line_seconds = sum(line.seconds for part in report.functions for line in part.lines)
    assert report.is_counted and line_seconds == pytest.approx(report.call)
    assert line_of(report, "ts.mm").seconds > 0 and line_of(report, "if i % 2").seconds > 0
    assert line_of(report, "y = called(x)").below == pytest.approx(line_of(report, "ts.tanh").seconds, rel=0.5)


def test_lines_of_fusion_groups(report):
    assert line_of(report, "ts.tanh").is_grouped and not line_of(report, "total += i").is_grouped
    assert "fused mul_add_tanh" in report.plan and "ran fused" in report.plan


def test_source_lines_of_graph_rows(report):
    """Rows of the function's graph and of the optimized graph, with inlined callees, have source lines."""
    at = line_of(report, "ts.mm").number
    assert [row.line_id for row in report.functions[0].graph if "aten::mm" in row.text] == [(0, at)]
    inside = line_of(report, "ts.tanh").number
    assert (1, inside) in [row.line_id for row in report.optimised]
    assert "\n".join(row.text for row in report.functions[0].graph) + "\n" == ts.jit.script(looping).graph.str(False)


def test_operators_and_kernels(report):
    kernels = {work.name: work.kernel for work in report.operators}
    assert kernels["aten::mm"] == "kernels.gemm_ops"
    assert [work.seconds for work in report.operators] == sorted(
        (work.seconds for work in report.operators), reverse=True
    )


def test_recursion():
    facts = collect(ts.jit.script(recursive), (5,))
    assert len(facts.functions) == 1 and line_of(facts, "if n < 2").times == 15


def test_arguments_are_copied():
    """Each measured call gets copies of the arguments."""

    def fill(x: ts.Tensor, xs: list[int]) -> int:
        x.add_(1)
        xs.append(1)
        return len(xs)

    x, xs = ts.zeros(2), [0]
    collect(ts.jit.script(fill), (x, xs))
    assert ts.equal(x, ts.zeros(2)) and xs == [0]


def test_without_arguments_nothing_runs(capfd):
    facts = collect(ts.jit.script(hostile))
    assert facts.call is None and capfd.readouterr().out == ""
    assert "not measured" in page(facts)


def test_modules():
    """The module tree lists functions of methods; modules of one class share them."""
    module = ts.jit.script(Net())
    facts = collect(module.forward, (ts.rand(2, 3),))
    tree = facts.modules
    assert (tree.kind, tree.parameters, tree.functions) == ("Net", 24, [0])
    assert [(child.name, child.kind, child.parameters) for child in tree.children] == [
        ("first", "Block", 12), ("second", "Block", 12),
    ]  # fmt: skip
    assert tree.children[0].functions == tree.children[1].functions
    assert tree.children[0].children[0].name == "layer"


def test_archives(tmp_path):
    """The report of an archive shows the lines of its serialized code."""
    ts.jit.script(Net()).save(tmp_path / "net.pt")
    facts = collect(ts.jit.load(tmp_path / "net.pt").forward, (ts.rand(2, 3),))
    assert facts.functions[0].file.startswith("code/__torch__/")
    line_seconds = sum(line.seconds for part in facts.functions for line in part.lines)
    assert line_seconds == pytest.approx(facts.call)


# ---- the page ----------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Collect the tags, attributes and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def hostile_page():
    facts = collect(ts.jit.script(hostile))
    facts.name = facts.functions[0].name = "<b onclick=1>&"
    facts.functions[0].file = '"><script>window.evil=1</script>'
    return page(facts)


def test_untrusted_names_are_escaped(hostile_page):
    result = Tags(hostile_page)
    assert result.tags.count("script") == 1 and not {"img", "b", "iframe", "link"} & set(result.tags)
    assert not [name for name, _ in result.attributes if name.startswith("on") or name in ("src", "style")]
    assert all(value.startswith("#") for name, value in result.attributes if name == "href")
    assert any("<img src=x onerror='window.evil=1'>" in text for text in result.texts)


def test_content_security_policy(hostile_page):
    """The content security policy allows only the hashes of the page's script and style."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', hostile_page)[1]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", hostile_page, re.DOTALL)
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert "http:" not in hostile_page and "https:" not in hostile_page


# ---- the command -------------------------------------------------------------------------------------

PROGRAM = "def double(x: int, by: int = 2) -> int:\n    return x * by\n\n\ndef three() -> int:\n    return 3\n"


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "explained.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    ("words", "measured"), ((["double"], False), (["double", 3], True), (["double", 3, "by=4"], True), (["three"], True))
)
def test_command(program, tmp_path, capsys, words, measured):
    name, *arguments = words
    out = tmp_path / "page.html"
    hint = "" if measured else "the page has no times, because the function was not called; missing arguments: x: int\n"
    assert output(capsys, "explain", f"{program}:{name}", *arguments, "-o", out) == (0, "", f"wrote {out}\n{hint}")
    assert ("per call" in out.read_text()) == measured


@pytest.mark.parametrize(
    ("words", "expected", "message"),
    (
        (["double", "x", "-o", "{}/page.html"], 2, "'x' is not an int"),
        (["triple", "-o", "{}/page.html"], 2, "defines no function 'triple'"),
        (["double", "1", "-o", "{}/absent/page.html"], 1, "cannot write"),
    ),
)
def test_error_messages(program, tmp_path, capsys, words, expected, message):
    name, *rest = words
    code, out, err = output(capsys, "explain", f"{program}:{name}", *(word.format(tmp_path) for word in rest))
    assert (code, out) == (expected, "") and message in err


def test_untrusted_endless_program_is_stopped(tmp_path, capsys):
    unit = ts.jit.CompilationUnit("def forever(n: int) -> int:\n    while True:\n        n += 1\n    return n\n")
    unit.forever.save(tmp_path / "forever.pt")
    words = ("explain", tmp_path / "forever.pt", 1, "-o", tmp_path / "page.html", "--seconds", 1)
    code, out, err = output(capsys, *words)
    assert (code, out) == (1, "") and "seconds" in err and not (tmp_path / "page.html").exists()


# ---- in a browser ------------------------------------------------------------------------------------


@pytest.fixture
def visit(browser, tmp_path):
    """Show a page in a browser tab and check for errors and network requests at the end."""
    tab = browser.new_page()
    wrong, requests = [], []
    tab.on("console", lambda message: wrong.append(message.text))
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))

    def show(text):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        tab.goto((tmp_path / "page.html").as_uri())
        return tab

    yield show
    assert wrong == [] and all(url.startswith("file:") for url in requests) and len(requests) == 1
    tab.close()


def test_lines_and_rows_are_highlighted(visit, report):
    tab = visit(page(report))
    row = tab.locator("table.source tr", has_text="ts.mm").first
    row.hover()
    highlighted = tab.locator(".lit").all_text_contents()  # including boxes of the drawing
    assert any("ts.mm" in text for text in highlighted) and any("aten::mm" in text for text in highlighted)
    assert not any("aten::tanh" in text for text in highlighted)
    row.click()
    tab.locator("h1").hover()
    assert tab.locator(".lit").count() == len(highlighted)  # the highlighting remains
    row.click()
    tab.locator("h1").hover()
    assert tab.locator(".lit").count() == 0


def test_search(visit, report):
    tab = visit(page(report))
    tab.keyboard.press("/")
    tab.keyboard.type("def CALLED")
    assert tab.locator("#count").inner_text() == "1 found"
    assert tab.locator(".found").inner_text().strip().endswith("def called(x: ts.Tensor) -> ts.Tensor:")
    assert tab.locator("main > details:visible").count() == 1
    tab.keyboard.press("Escape")
    assert tab.locator("main > details:visible").count() == tab.locator("main > details").count()
    assert tab.locator("#bytecode").get_attribute("open") is None


def test_modules_link_to_their_code(visit):
    tab = visit(page(collect(ts.jit.script(Net()).forward)))
    tab.locator("#part1 > summary").click()
    assert tab.locator("#part1").get_attribute("open") is None
    tab.locator("#modules a", has_text="forward").nth(1).click()
    tab.wait_for_function("document.getElementById('part1').open")
    assert tab.locator("#modules details").count() == 5
    tab.locator("#modules > summary").click()
    assert not tab.locator("#modules details").first.is_visible()


def test_untrusted_names_run_no_script_in_the_page(visit, hostile_page):
    tab = visit(hostile_page)
    assert tab.evaluate("window.evil") is None
    assert tab.locator("h1").inner_text() == "<b onclick=1>&"
