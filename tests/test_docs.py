"""Documentation pages: samples run, tables match the sources, and pages link to each other."""

import re
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ts
from tests import bytecode_page, cli_page, doc_samples, explain_picture, passes_page, performance_chart, readme_performance

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SNIPPETS = sorted((DOCS / "snippets").glob("*.py"))
PAGES = sorted(DOCS.rglob("*.md"))
FENCE = re.compile(r"^ *```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"<!-- sample (\w+\.py):(\w+) -->")
SECTION = re.compile(r"# --8<-- \[(start|end):(\w+)\]")

# Names that samples of pages outside of `docs/snippets` require.
MODEL = """
import ts
net = ts.nn.Sequential(ts.nn.Flatten(), ts.nn.Linear(12, 3))
x = ts.rand(1, 3, 2, 2)
"""
GIVEN = {
    "how-to/load-and-save-models.md": MODEL + """
class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = ts.nn.Parameter(ts.zeros(1))

    def forward(self, x):
        return x + self.bias

    @ts.jit.export
    def encode(self, x):
        return x * self.bias

net = Net()
x = ts.rand(1, 3, 224, 224)
ts.jit.save(ts.jit.script(net), "model.pt")
ts.save(net.state_dict(), "weights.pt")
""",
    "reference/profiler.md": MODEL + "model, batches = net, [x] * 12\n",
    "explanation/tracing-and-guards.md": "import ts\n",
    "explanation/optimizations.md": MODEL + "fn = ts.jit.script(net)\n",
    "how-to/add-a-backend.md": "",
    "how-to/use-the-step-debugger.md": "",
}  # fmt: skip
FAILS = {"explanation/tracing-and-guards.md": "The trace does not hold for these inputs"}  # intentional errors
NEEDS_PYTORCH = "model = ts.jit.from_torch(module)"


def samples(text):
    return [textwrap.dedent(code) for code in FENCE.findall(text)]


# ---- samples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_snippets_run(path, tmp_path, monkeypatch, capsys):
    """Each snippet checks its own results; a snippet that changes global state runs in a new process."""
    if path.stem == "as_torch":
        done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path))


@pytest.mark.filterwarnings("ignore:Converting a tensor to a Python boolean")
@pytest.mark.parametrize("page", sorted(GIVEN))
def test_samples_of_other_pages_run(page, tmp_path, monkeypatch, capsys):
    """The samples of a page run in order as one program."""
    code = "\n".join(samples((DOCS / page).read_text()))
    program = tmp_path / f"page_{Path(page).stem.replace('-', '_')}.py"  # one name per page: linecache caches by name
    program.write_text(GIVEN[page] + code.replace(NEEDS_PYTORCH, ""))
    monkeypatch.chdir(tmp_path)
    if page in FAILS:
        with pytest.raises(RuntimeError, match=FAILS[page]):
            runpy.run_path(str(program))
    else:
        runpy.run_path(str(program))


def test_samples_of_the_readme_run(tmp_path, monkeypatch):
    """The README's first sample prints a graph, and the second loads an image model."""
    monkeypatch.chdir(tmp_path)
    net = ts.nn.Sequential(ts.nn.Conv2d(3, 2, 3), ts.nn.Flatten(1))
    ts.jit.save(ts.jit.script(net), "model.pt")
    names = []
    for i, code in enumerate(samples((ROOT / "README.md").read_text())):
        program = tmp_path / f"page_readme_{i}.py"
        program.write_text(code)
        names.append(runpy.run_path(str(program)))
    first, second = names
    assert first["collatz"](27) == 111 and second["y"].shape == (1, 2 * 222 * 222)


def test_the_performance_table_of_the_readme():
    """The performance table of the README equals benchmarks/RESULTS.md (`python -m tests.regenerate`)."""
    text = readme_performance.PAGE.read_text()
    assert readme_performance.page(text) == text


def test_the_pictures_of_the_readme():
    """The chart equals benchmarks/RESULTS.md, the screenshot is small, and both have alternative texts."""
    assert performance_chart.PAGE.read_text() == performance_chart.page()
    picture = explain_picture.PICTURE.read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) <= explain_picture.MAX_BYTES
    assert int.from_bytes(picture[16:20], "big") == explain_picture.WIDTH
    images = dict(re.findall(r"!\[([^]]+)\]\(([^)]+)\)", (ROOT / "README.md").read_text()))
    assert sorted(images.values()) == ["docs/images/explain.png", "docs/images/performance.svg"]
    assert min(map(len, images)) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_samples_and_their_output(page):
    """Samples in a page equal the snippets (`python -m tests.regenerate`)."""
    text = page.read_text()
    assert doc_samples.page(text) == text


def test_a_marker_without_a_block_is_reported():
    with pytest.raises(LookupError, match="1 marks, and 0 blocks"):
        doc_samples.page("<!-- sample tutorial.py:first -->\n\nNothing.\n")
    with pytest.raises(LookupError, match="no section frist"):
        doc_samples.page("<!-- sample tutorial.py:frist -->\n\n```python\n```\n")


def test_texts_explained_line_by_line():
    """Words in the first column of explanation tables occur in the program's output."""
    pages = ("ir-and-bytecode", "optimized-graphs", "loops", "containers")
    page = "".join((DOCS / "explanation" / f"reading-{name}.md").read_text() for name in pages)
    samples_shown = doc_samples.SHOWN.findall(page)
    named = [expression.partition("(")[0].split(".") for _, _, expression, _ in samples_shown]
    assert [what for name, what in named if name == "weigh"] == ["graph", "bytecode", "plan", "graph_for"]
    for name in ("first_above", "weighted", "doubled", "counted"):
        assert [what for other, what in named if other == name] == ["graph", "bytecode"]
    output = " ".join(" ".join(text for *_, text in samples_shown).split())
    explained = [words for row in page.splitlines() if row.startswith("| `") for words in re.findall("`(.+?)`", row.split(" | ")[0])]
    assert len(explained) > 45 and [words for words in explained if " ".join(words.split()) not in output] == []


def test_quoted_sections_exist():
    """Every quoted snippet section exists, and every section is quoted by a page."""
    quoted = {pair for page in PAGES for pair in INCLUDE.findall(page.read_text())}
    sections = set()
    for path in SNIPPETS:
        marks = SECTION.findall(path.read_text())
        assert marks == [(kind, name) for _, name in marks[::2] for kind in ("start", "end")]
        sections |= {(path.name, name) for _, name in marks}
    assert quoted == sections


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_pages_hold_no_code_of_their_own(page):
    """The code of pages is in snippets, or is run by this file or tests/serve/test_docs.py."""
    name = page.relative_to(DOCS).as_posix()
    if name not in GIVEN and name != "how-to/serve-models.md":
        text = page.read_text()
        assert len(samples(text)) == len(INCLUDE.findall(text))


# ---- tables ------------------------------------------------------------------------------------------

READ = re.compile(r'environ(?:\.get|\.setdefault)?[([]\s*"([A-Z_]+)"|getenv\("([A-Z_]+)"|"([A-Z_]+)" in os\.environ')
NAMED = re.compile(r"\b((?:TS|PYTORCH)_[A-Z_]+)=")  # mentioned in docstrings
CONSTANT = re.compile(r'^(ENV_\w+) = "(\w+)"', re.MULTILINE)
SWITCH = re.compile(r'variable = "(\w+)" if "\w+" in os\.environ else "(\w+)"')


def variables_of_the_sources():
    """Return the environment variables that `ts`, its build and its tests read."""
    variables = set()
    for path in [ROOT / "setup.py", *sorted((ROOT / "ts").rglob("*.py*")), *sorted((ROOT / "backends").rglob("*.py*"))]:
        if path.suffix in (".py", ".pyx", ".pxd"):
            text = path.read_text()
            variables |= {value for name, value in CONSTANT.findall(text) if f"getenv({name}" in text}
            for pattern in (READ, NAMED, SWITCH):
                variables.update(name for names in pattern.findall(text) for name in (names if isinstance(names, tuple) else [names]))
    for path in (ROOT / "backends").rglob("*.h"):
        variables.update(re.findall(r'getenv\("(\w+)"\)', path.read_text()))
    for suffix in ("LOG_LEVEL", "OPT_LIMIT"):  # `passes/pass_logging.py` concatenates these names
        variables |= {f"TS_JIT_{suffix}", f"PYTORCH_JIT_{suffix}"}
    for path in (ROOT / "tests").rglob("*.py"):
        variables.update(re.findall(r'environ\.get\("(TS_[A-Z_]+)"', path.read_text()))
    return variables - {""}


def test_environment_variables():
    """The page of environment variables lists exactly the variables that the sources read."""
    rows = [line.split("|")[1] for line in (DOCS / "reference" / "environment-variables.md").read_text().splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == variables_of_the_sources()


def test_the_passes():
    """The pages of passes are current (`python -m tests.passes_page`)."""
    for path in passes_page.PAGES:
        text = path.read_text()
        assert passes_page.page(text) == text


def test_the_command_line():
    """The pages of the command line are current (`python -m tests.regenerate`)."""
    assert {path: path.read_text() for path in cli_page.pages()} == cli_page.pages()


def test_the_instructions():
    """The page of instructions is current (`python -m tests.regenerate`)."""
    assert bytecode_page.PAGE.read_text() == bytecode_page.page()


# ---- navigation --------------------------------------------------------------------------------------


def test_navigation_and_index():
    """Every page is in the navigation and in an index."""
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES}
    assert set(re.findall(r"- ([\w/-]+\.md)$", navigation, re.MULTILINE)) == pages | {
        "project/contributing.md", "project/changelog.md", "explanation/benchmarks.md",
    }  # fmt: skip
    linked = set(re.findall(r"\]\(([\w/-]+\.md)\)", (DOCS / "index.md").read_text()))
    folders = ("reference/api/", "reference/language/", "reference/operators/")  # folders with separate indexes
    assert linked == {page for page in pages if not page.startswith(folders) or page.endswith("/index.md")} - {"index.md"}


LINK = re.compile(r"\]\(([^)\s#:]*)(?:#([^)\s]+))?\)")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_resolve_in_the_source_tree(page):
    """Relative links to files and headings resolve without a site build."""
    prose = re.sub(r"`[^`\n]+`", "", re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))
    for path, heading in LINK.findall(prose):
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            names = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in names, f"{path}#{heading}"


def test_kernel_table_names_all_modules():
    """The table of C kernels lists each module that registers an operator, and only existing files."""
    kernels = ROOT / "backends" / "cpu" / "kernels"
    page = (DOCS / "how-to" / "add-an-operator.md").read_text()
    listed = set(re.findall(r"`(\w+)\.pyx`", page.partition("### C kernels of the CPU")[2]))
    registered = set(runpy.run_path(str(kernels / "kernel_index.py"))["NAMES"])
    assert registered <= listed
    assert all((kernels / f"{name}.pyx").exists() for name in listed)
