"""The tables of `docs/reference/passes.md` and `passes-by-pytorch-name.md`, generated from the passes.

Input: `ts._C` and the files of `ts/passes`. Output: the sections between the pages' markers. Command:

    python -m tests.passes_page
"""

from __future__ import annotations

import ast
from pathlib import Path

from ts import _C
from ts.passes import pass_logging, pipelines

ROOT = Path(__file__).parent.parent
PAGES = tuple(ROOT / "docs" / "reference" / name for name in ("passes.md", "passes-by-pytorch-name.md"))
PACKAGES = ("freezing", "pytorch", "tracing")
PIPELINES = ("FRONTEND", "OPTIMIZE", "DIFFERENTIATE")
# Module or package -> pipeline or feature that runs the passes imported by these modules.
CALLERS = {
    "ts.runtime.specialization": "specialization",
    "ts.runtime.executor": "specialization",
    "ts.runtime.function": "execution of a graph",
    "ts.runtime.tiers": "selection of the tier",
    "ts.jit.freezing": "`ts.jit.freeze`",
    "ts.tracing": "`ts.jit.trace`",
}


def summary(stem: str) -> str:
    """Return the first sentence of a pass's docstring."""
    text = ast.get_docstring(ast.parse(pass_logging.pass_files()[stem].read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".").replace("|", "\\|")


def _imports(path: Path) -> set[str]:
    """Return the stems of the passes that a file imports."""
    stems: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "ts.passes":
            stems.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ts.passes."):
            module = str(node.module).split(".")[2:]
            stems.update([module[-1]] if module[-1] not in PACKAGES else [alias.name for alias in node.names])
    return stems


def importers() -> dict[str, list[str]]:
    """Return the modules of `ts` that import each pass."""
    modules: dict[str, list[str]] = {}
    for path in sorted((ROOT / "ts").rglob("*.py")):
        for stem in _imports(path):
            modules.setdefault(stem, []).append(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return modules


def runs_in(stem: str, modules: list[str]) -> str:
    """Return the pipelines, features or passes that run a pass which `modules` import."""
    lists = {name: [pipelines.pass_name(run) for run in getattr(pipelines, name)] for name in PIPELINES}
    names = [name for name in PIPELINES if stem in lists[name]]
    if "OPTIMIZE" in names:
        names.remove("DIFFERENTIATE")  # contains OPTIMIZE
    labels = [f"`{name}`" for name in names]
    labels += [label for prefix, label in CALLERS.items() if any(f"{m}.".startswith(f"{prefix}.") for m in modules)]
    if not labels:
        passes = [m.rpartition(".")[2] for m in modules if m.startswith("ts.passes.")]
        labels = [f"pass `{name}`" for name in passes if name in pass_logging._pass_names()]
    return ", ".join(dict.fromkeys(labels)) or "only on request (`ts._C`)"


def pytorch_pass_rows() -> str:
    """Return a table row for each `_jit_pass_*`."""
    rows = [f"| `_jit_pass_{name}` | `{module_name}` |" for name, module_name in sorted(_C._PASSES.items())]
    others = {name: module for name, module in _C._NAME_TO_MODULE.items() if name.startswith("_jit_pass_")}
    rows += [f"| `{name}` | `{module.removeprefix('ts.passes.')}` |" for name, module in sorted(others.items())]
    return "\n".join(["| of `ts._C` | in `ts.passes` |", "|---|---|", *sorted(rows)])


def pass_file_rows() -> str:
    """Return a table row for each pass file."""
    modules = importers()
    rows = [
        f"| `{stem}` | {summary(stem)} | {runs_in(stem, modules.get(stem, []))} |"
        for stem in sorted(pass_logging._pass_names())
    ]
    return "\n".join(["| pass | what it does | runs in |", "|---|---|---|", *rows])


def page(text: str) -> str:
    """Return the text of a page with current tables."""
    for mark, table in (("pytorch", pytorch_pass_rows()), ("own", pass_file_rows())):
        begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
        if begin not in text:
            continue
        before, after = text.split(begin)[0], text.split(end)[1]
        text = f"{before}{begin}{table}\n{end}{after}"
    return text


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(page(path.read_text()))
