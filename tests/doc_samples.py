"""Code samples of the documentation pages: sections of `docs/snippets`, and values of expressions.

Input: pages with a marker before each code block:

    <!-- sample tutorial.py:first -->              a section of a file in `docs/snippets`
    <!-- show tutorial.py: collatz.bytecode -->    the value of an expression after running the file

Output: the pages with current code blocks, so that they are readable without a site build.
`python -m tests.regenerate` writes them; `docs/mkdocs_hooks.py` removes the markers from the site.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import tempfile
import textwrap
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SNIPPETS = DOCS / "snippets"
SAMPLE = re.compile(r"^( *)<!-- sample (\w+\.py):(\w+) -->\n\n *```python\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"^( *)<!-- show (\w+\.py): (.*?) -->\n\n *```text\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^ *<!-- (sample|show) ", re.MULTILINE)


def section(snippet: str, name: str) -> str:
    """Return a section of a file of `docs/snippets` without its indentation."""
    text = (SNIPPETS / snippet).read_text()
    _, begin, rest = text.partition(f"# --8<-- [start:{name}]\n")
    part, end, _ = rest.partition(f"# --8<-- [end:{name}]")
    if not begin or not end:
        raise LookupError(f"docs/snippets/{snippet} has no section {name}")
    return textwrap.dedent(part.rpartition("\n")[0]).strip("\n") + "\n"


@cache
def names_of(snippet: str) -> dict[str, Any]:
    """Run a snippet in an empty folder and return its globals."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            return runpy.run_path(str(SNIPPETS / snippet))
        finally:
            os.chdir(before)


def evaluated_repr(snippet: str, expression: str) -> str:
    """Return the value of an expression after running a snippet, as printed with LLVM available."""
    names = names_of(snippet)
    with mock.patch("ts.runtime.plan_report.is_enabled", True), mock.patch("ts.runtime.plan_report.is_available", lambda: True):
        text = str(eval(expression, dict(names)))
    return text.rstrip("\n").replace(f"{SNIPPETS}/", "") + "\n"


def page(text: str) -> str:
    """Return the text of a page with updated sample blocks."""

    def filled(match: re.Match[str], block: str) -> str:
        head = match[0][: match.start(4) - match.start()]
        return f"{head}{textwrap.indent(block, match[1])}{match[1]}```"

    text = SAMPLE.sub(lambda match: filled(match, section(match[2], match[3])), text)
    text = SHOWN.sub(lambda match: filled(match, evaluated_repr(match[2], match[3])), text)
    marks = len(_MARK.findall(text))
    blocks = len(SAMPLE.findall(text)) + len(SHOWN.findall(text))
    if marks != blocks:
        raise LookupError(f"{marks} marks, and {blocks} blocks of code behind them: add an empty block to a new mark")
    return text


def pages() -> dict[Path, str]:
    """Return the pages that have samples."""
    results = {path: path.read_text() for path in sorted(DOCS.rglob("*.md"))}
    return {path: page(text) for path, text in results.items() if _MARK.search(text)}
