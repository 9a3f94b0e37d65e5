"""What the site has beside the pages of this folder, as MkDocs asks for it (`hooks` in `mkdocs.yml`).

    <!-- draw tutorial.py: collatz.graph -->          the picture of a graph

runs the file of `docs/snippets` once, in an empty folder, and looks at an expression in it, so that what a
page shows is what its code gives.  Code and texts stand in the pages (`tests/doc_samples.py`), and their
marks are left out.  Pages from elsewhere in the tree are listed in `PAGES`; other files that a page links to
become files of the site, and a link to what is not there is an error of the build.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ts.ir.visualization import arrange, build_diagram, svg
from ts.ir.visualization.svg import DARK, LIGHT, RULES

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.doc_samples import names_of  # noqa: E402

PAGES = {  # of the tree: of the site
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "benchmarks/RESULTS.md": "explanation/benchmarks.md",
}
_ELSEWHERE = {"README.md": "index.md"}
_DRAWN = re.compile(r"<!-- draw (\w+\.py): (.*?) -->")
_MARK = re.compile(r"^ *<!-- (?:sample|show) .*? -->\n\n?", re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and files that are not in this folder."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    wanted: dict[str, Path] = {}
    for file in files.documentation_pages():
        text = file.content_string
        for _, path, _, _ in _LINK.findall(text):
            source = _source(file.src_uri, path)
            if _target(source) is None and (ROOT / source).is_file():
                wanted[f"sources/{source}"] = ROOT / source
    for uri, path in sorted(wanted.items()):
        files.append(File.generated(config, uri, content=path.read_bytes()))
    style = f'[data-md-color-scheme="default"] .ts-graph {{ {LIGHT} }}\n'
    style += f'[data-md-color-scheme="slate"] .ts-graph {{ {DARK} }}\n{RULES}'
    files.append(File.generated(config, "assets/graph.css", content=style))
    config.extra_css.append("assets/graph.css")
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put in the pictures of snippets, and let links lead to where their files are on the site."""

    def drawn(match: re.Match[str]) -> str:
        snippet, expression = match.groups()
        picture = build_diagram(eval(expression, dict(names_of(snippet))))
        arrange(picture)
        text = svg(picture, style="")
        text = text.replace(f"{ROOT}/docs/snippets/", "").replace(f"{ROOT}/", "")
        return f'<div class="picture">{text}</div>'

    def linked(match: re.Match[str]) -> str:
        before, path, anchor, after = match.groups()
        source = _source(page.file.src_uri, path)
        target = _target(source)
        if target is None and (ROOT / source).is_file():
            target = f"sources/{source}"
        if target is None:
            return match[0]
        folder = posixpath.dirname(page.file.src_uri)
        anchor = "" if source in _ELSEWHERE else anchor or ""
        return f"{before}{posixpath.relpath(target, folder or '.')}{anchor}{after}"

    return _DRAWN.sub(drawn, _MARK.sub("", _LINK.sub(linked, markdown)))


def _source(page: str, link: str) -> str:
    """Return the path in the repository of the file to which `link`, on page `page` of the site, refers."""
    home = next((source for source, name in PAGES.items() if name == page), f"docs/{page}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(home), link))


def _target(source: str) -> str | None:
    """Return the path on the site of a file of the repository; None if the site does not contain it."""
    if source in PAGES or source in _ELSEWHERE:
        return PAGES.get(source) or _ELSEWHERE[source]
    return source.removeprefix("docs/") if source.startswith("docs/") else None
