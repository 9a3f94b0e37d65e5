"""The documentation site in Chromium: search, dark mode, phone width, no errors, no external requests."""

import http.server
import subprocess
import sys
import threading
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
SITE = ROOT / "build" / "site"
PHONE, SCREEN = {"width": 375, "height": 740}, {"width": 1280, "height": 740}


def is_current():
    """Return True if the site is newer than its sources."""
    index_page = SITE / "index.html"
    sources = [ROOT / "mkdocs.yml", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*"), *(ROOT / "ts").rglob("*.py")]
    return index_page.exists() and index_page.stat().st_mtime > max(path.stat().st_mtime for path in sources)


@pytest.fixture(scope="module")
def site():
    """Return the address of the site, building it if necessary."""
    if find_spec("material") is None or find_spec("mkdocstrings") is None:
        pytest.skip("needs the extra `docs`")
    if not is_current():
        command = [sys.executable, "-m", "mkdocs", "build", "-q"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    handler = partial(QuietHandler, directory=SITE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Suppress log output."""


@pytest.fixture
def visit(browser, site):
    """Open pages in the browser and check for errors and external requests at the end."""
    wrong, contexts = [], []

    def open(page, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda request: None if request.url.startswith((site, "data:", "blob:")) else wrong.append(request.url))
        tab.on("response", lambda response: None if response.ok or response.status == 304 else wrong.append(response.url))
        tab.goto(f"{site}/{page}", wait_until="networkidle")
        return tab

    yield open
    for context in contexts:
        context.close()
    assert wrong == []


def pages():
    if not SITE.exists():
        return []
    results = [path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")]
    return sorted(name for name in results if name != "404.html")


def test_every_page_is_built(site):
    expected = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert expected | {"project/contributing.html", "project/changelog.html", "explanation/benchmarks.html"} == set(pages())


def test_search(visit):
    """The search finds words of pages, and its result opens the page."""
    tab = visit("index.html")
    box = tab.locator(".md-search__input")
    box.click()  # loads the search index
    box.press_sequentially("SubgraphRewriter", delay=20)
    link = tab.locator(".md-search-result__link[href*='how-to/add-a-pass.html']").first
    link.wait_for()
    link.click()
    tab.locator("h1", has_text="Add a pass").wait_for()
    assert "SubgraphRewriter" in tab.locator("article").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_mode(visit, scheme):
    """Page and drawings follow the color scheme of the system, and the theme switch changes both."""
    tab = visit("tutorials/getting-started.html", color_scheme=scheme)

    def colours():
        page = tab.evaluate("getComputedStyle(document.body).getPropertyValue('--md-default-bg-color')")
        box = tab.locator(".ts-graph .operator > rect").first.evaluate("e => getComputedStyle(e).fill")
        return tab.evaluate("document.body.dataset.mdColorScheme"), page, box

    before = colours()
    assert before[0] == {"light": "default", "dark": "slate"}[scheme]
    tab.locator("label[title]:visible[for^=__palette]").first.click()
    after = colours()
    assert all(a != b for a, b in zip(before, after, strict=True))


def test_every_page_fits(visit, site):
    """No page scrolls horizontally on a phone or a screen, and no page has an error."""
    tab = visit("index.html", viewport=PHONE)
    too_wide = {}
    for page in pages():
        tab.goto(f"{site}/{page}")
        for size in (PHONE, SCREEN):
            tab.set_viewport_size(size)
            for _ in range(10):  # the layout changes shortly after a new width
                overflow = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                if overflow <= 0:
                    break
                tab.wait_for_timeout(100)
            else:
                too_wide[page, size["width"]] = overflow
    assert too_wide == {}


def test_drawings_and_code_are_shown(visit):
    tab = visit("tutorials/getting-started.html")
    assert tab.locator(".picture svg").count() == 1
    assert "prim::Loop" in tab.locator(".picture").first.text_content()
    text = tab.locator("article").inner_text()
    assert "def collatz(n: int) -> int:" in text and "--8<--" not in text and "<!--" not in text
    assert str(ROOT) not in tab.content()


def test_api(visit):
    tab = visit("reference/api/jit.html")
    headings = tab.locator("article h2").all_inner_texts()
    assert any("ts.jit.script" in heading for heading in headings)
    assert "Compile" in tab.locator("article").inner_text() or "compile" in tab.locator("article").inner_text()
