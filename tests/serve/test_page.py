"""Playground page in a browser: editing, running, highlighting, sharing."""

import pytest

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'torchscript-ts[serve]'")
from tests.serve.conftest import serving

DOUBLE = "def double(x: int) -> int:\n    y = x * 2\n    return y"
FAILS = "def pick(xs: List[int]) -> int:\n    return xs[7]"


@pytest.fixture(scope="module")
def address(browser):
    with serving("--seconds", 2) as process:
        yield f"http://127.0.0.1:{process.port}/"


@pytest.fixture
def visit(browser, address):
    """Open pages; afterwards check for no console errors and no requests to other servers."""
    tabs, wrong, requests = [], [], []

    def show(fragment="", **options):
        context = browser.new_context(**options)
        tab = context.new_page()
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(address + fragment)
        tabs.append(context)
        return tab

    yield show
    for context in tabs:
        context.close()
    assert wrong == [] and all(url.startswith((address, "data:")) for url in requests)


def type_in(tab, text, call):
    tab.fill("#source", text)
    tab.fill("#call", call)


def test_run(visit):
    """Enter runs the initial program; the tabs show its graph, optimised graph and bytecode."""
    tab = visit()
    tab.press("#call", "Enter")
    assert tab.wait_for_selector(".result").inner_text() == "111"
    assert tab.locator("#schema").inner_text() == "collatz(int n) -> int"
    assert "prim::Loop" in tab.locator("#view").inner_text()
    tab.click("#tab-bytecode")
    assert "# <string>:5:" in tab.locator("#view").inner_text() and "RETURN" in tab.locator("#view").inner_text()
    tab.press("#tab-bytecode", "ArrowLeft")
    assert tab.locator("[aria-selected=true]").inner_text() == "optimised"
    assert "prim::Loop" in tab.locator("#view").inner_text()


def test_editor_keys(visit):
    """Tab and Enter indent, Ctrl+Enter runs, keywords are highlighted."""
    tab = visit()
    tab.fill("#source", "")
    tab.focus("#source")
    for line in DOUBLE.split("\n"):
        tab.keyboard.type(line.strip())
        if line != DOUBLE.split("\n")[-1]:
            tab.keyboard.press("Enter")
    assert tab.input_value("#source") == DOUBLE
    assert tab.evaluate("document.getElementById('colours').textContent") == DOUBLE.replace("\n", "")
    assert tab.locator("#colours b").all_inner_texts() == ["def", "return"]
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.input_value("#source").endswith("y\n        ")
    tab.fill("#call", "double(21)")
    tab.keyboard.press("Control+Enter")
    assert tab.wait_for_selector(".result").inner_text() == "42"


def test_source_and_graph_lines_are_linked(visit):
    tab = visit()
    type_in(tab, DOUBLE, "double(4)")
    tab.click("#run")
    tab.wait_for_selector(".result")
    row = tab.locator("#view span", has_text="aten::mul")
    row.hover()
    assert tab.locator("#colours .lit").inner_text().strip() == "y = x * 2" and "lit" in row.get_attribute("class")
    tab.evaluate("const s = document.getElementById('source'); s.focus(); s.setSelectionRange(s.value.length, s.value.length)")
    tab.locator("#colours .lit", has_text="return y").wait_for()


def test_errors(visit):
    tab = visit()
    type_in(tab, FAILS, "pick([1, 2])")
    tab.click("#run")
    assert "list index out of range" in tab.wait_for_selector(".error").inner_text()
    assert tab.locator("#colours .wrong").inner_text().strip() == "return xs[7]"
    assert "aten::__getitem__" in tab.locator("#view").inner_text()
    type_in(tab, "def f(x: int) -> str:\n    return x", "f(1)")
    assert tab.locator(".wrong").count() == 0
    tab.click("#run")
    tab.locator("#outcome .error", has_text="annotated as having type str").wait_for()
    tab.click("#outcome summary")
    assert "<--- HERE" in tab.locator("#outcome details pre").inner_text()


def test_endless_program(visit):
    tab = visit()
    tab.select_option("#examples", "infinite loop")
    assert "TimeExceeded" in tab.wait_for_selector(".error").inner_text()
    assert tab.locator("#run").is_enabled()


def test_links(visit):
    """A shared link loads the program without running it."""
    tab = visit(permissions=["clipboard-read", "clipboard-write"])
    text = 'def f() -> str:\n    return "ßü→🎈<script>"\n'
    type_in(tab, text, "f()")
    tab.click("#share")
    tab.locator("#share", has_text="Copied").wait_for()
    link = tab.evaluate("navigator.clipboard.readText()")
    assert "#" in link and "<" not in link.partition("#")[2]
    other = visit(link[link.index("#") :])
    assert (other.input_value("#source"), other.input_value("#call")) == (text, "f()")
    assert "has not run yet" in other.locator("#outcome").inner_text() and other.locator(".result").count() == 0
    other.click("#run")
    assert other.wait_for_selector(".result").inner_text() == "'ßü→🎈<script>'"


@pytest.mark.parametrize("fragment", ["#x", "#!!", "#eyJhIjoxfQ", "#WzEsMl0", "#" + "A" * 200_000], ids=range(5))
def test_invalid_links(visit, fragment):
    tab = visit(fragment)
    assert "contains no valid program" in tab.locator("#outcome").inner_text()
    assert tab.input_value("#source").startswith("def collatz")


def test_untrusted_text_is_escaped(visit):
    tab = visit()
    type_in(tab, 'def f() -> str:\n    print("<img src=x onerror=window.evil=1>")\n    return "<b>x</b>"\n', "f()")
    tab.click("#run")
    assert tab.wait_for_selector(".result").inner_text() == "'<b>x</b>'"
    assert "<img" in tab.locator(".output").inner_text() and tab.locator("img, #outcome b").count() == 0
    assert tab.evaluate("window.evil") is None


@pytest.mark.parametrize("size", [{"width": 360, "height": 740}, {"width": 1280, "height": 800}], ids=["phone", "desk"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_layout_and_contrast(visit, size, colours):
    """No horizontal overflow, controls of at least 30 px, text contrast of at least 4.5."""
    tab = visit(viewport=size, color_scheme=colours)
    tab.click("#run")
    tab.wait_for_selector(".result")
    assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]
    low = tab.evaluate("[...document.querySelectorAll('button, select, input')].filter(e => e.offsetHeight < 30).length")
    assert low == 0
    for selector in ("body", "#run", "header p", "footer", "#colours b", "#colours u", ".result"):
        assert tab.evaluate(CONTRAST, selector) >= 4.5, selector
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (colours == "light")


CONTRAST = """(selector) => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255).map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
  };
  const element = document.querySelector(selector);
  let paper = element;
  while (/rgba\\(.*, 0\\)|transparent/.test(getComputedStyle(paper).backgroundColor)) paper = paper.parentElement;
  const a = light(getComputedStyle(element).color), b = light(getComputedStyle(paper).backgroundColor);
  return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
}"""


@pytest.mark.long
def test_unreachable_server(browser):
    """The page reports that the server is unreachable."""
    context = browser.new_context()
    with serving() as process:
        tab = context.new_page()
        tab.goto(f"http://127.0.0.1:{process.port}/")
    tab.click("#run")
    assert "cannot be reached" in tab.wait_for_selector(".error").inner_text() and tab.locator("#run").is_enabled()
    context.close()
