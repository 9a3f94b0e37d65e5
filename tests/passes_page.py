"""The tables of `docs/reference/passes.md` and `passes-by-pytorch-name.md`, generated from the passes.

In: `ts._C` and the files of `ts/passes`.  Out: the pages, between their marks.  To bring it up to date:

    python -m tests.passes_page
"""

from __future__ import annotations

import ast
from pathlib import Path

from ts import _C
from ts.passes import pass_logging

ROOT = Path(__file__).parent.parent
PAGES = tuple(ROOT / "docs" / "reference" / name for name in ("passes.md", "passes-by-pytorch-name.md"))
PASSES = ROOT / "ts" / "passes"


def summary(stem: str) -> str:
    """The first sentence of a pass's docstring."""
    text = ast.get_docstring(ast.parse((PASSES / f"{stem}.py").read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".").replace("|", "\\|")


def by_pytorchs_names() -> str:
    """Return a table row for each `_jit_pass_*`."""
    rows = [f"| `_jit_pass_{name}` | `{place}` |" for name, place in sorted(_C._PASSES.items())]
    others = {name: home for name, home in _C._NAME_TO_MODULE.items() if name.startswith("_jit_pass_")}
    rows += [f"| `{name}` | `{home.removeprefix('ts.passes.')}` |" for name, home in sorted(others.items())]
    return "\n".join(["| of `ts._C` | in `ts.passes` |", "|---|---|", *sorted(rows)])


def by_their_own() -> str:
    """Return a table row for each pass file."""
    rows = [f"| `{stem}` | {summary(stem)} |" for stem in sorted(pass_logging._pass_names())]
    return "\n".join(["| pass | what it does |", "|---|---|", *rows])


def page(text: str) -> str:
    """The page with its tables."""
    for mark, table in (("pytorch", by_pytorchs_names()), ("own", by_their_own())):
        begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
        if begin not in text:
            continue
        before, after = text.split(begin)[0], text.split(end)[1]
        text = f"{before}{begin}{table}\n{end}{after}"
    return text


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(page(path.read_text()))
