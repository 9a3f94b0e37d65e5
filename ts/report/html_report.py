"""Conversion of report data to one self-contained HTML page, with HTML escaping (against XSS).

Input: a `ReportData`. Output: the text of the page. All text of the input is untrusted and is escaped. The
content security policy of the page forbids requests. It allows only the page's own script and style, by hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

import ts
from ts.ir.visualization import STYLE
from ts.profiler.table import time_text
from ts.report.report_data import FunctionReport, Line, Module, ReportData, TextLine

# lower limits of the heat levels (colors) of a source line: the line's time as a fraction of the time of the
# call
_HEATS = (0.005, 0.02, 0.08, 0.2, 0.4)
_MAX_OPEN_SECTIONS = 6  # number of sections that are expanded when the page is opened


def page(report: ReportData) -> str:
    """Return the HTML text of a report."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    style += STYLE
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    name = escape(report.name)
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            f"<header><h1>{name}</h1><p>{_summary(report)}</p>",
            '<span id="count"></span><input id="search" type="search" placeholder="search  /" ',
            'aria-label="search"></header>\n<main>\n',
            *_modules(report),
            *_function_sections(report),
            *_section(
                "plan",
                "fusion groups",
                f"<pre>{_format_lines(map(TextLine, report.plan.splitlines()))}</pre>",
            ),
            *_operators(report),
            *_section("optimised", "optimized graph", f"<pre>{_format_lines(report.optimised)}</pre>"),
            *_section(
                "bytecode",
                "bytecode",
                f"<pre>{_format_lines(map(TextLine, report.bytecode.splitlines()))}</pre>",
            ),
            f"<footer>{_footer(report)}</footer>\n</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _section(id: str, title: str, content: str, open: bool = False) -> Iterable[str]:
    yield f'<details id="{id}"{" open" * open}><summary>{title}</summary>\n{content}</details>\n'


def _seconds(seconds: float) -> str:
    return time_text(seconds * 1e6)


def _summary(report: ReportData) -> str:
    count = f"{len(report.functions)} function{'s' * (len(report.functions) != 1)}"
    if report.call is None:
        return f"{count}, not measured"
    return (
        f"{_seconds(report.call)} per call, of which {_seconds(report.between)} outside of operators; {count}"
    )


def _footer(report: ReportData) -> str:
    version_note = f"Made by ts {escape(ts.version.ts)}."
    if report.call is None:
        return f"{version_note} Pass arguments to measure the time of each line."
    distribution = "not assigned to lines, because counting took too long"
    if report.is_counted:
        distribution = "distributed over the lines by their executed instructions"
    return (
        f"{version_note} Times are from the fastest of several calls on {ts.get_num_threads()} threads. "
        "Operators were measured in a separate call. The time of a fusion group is shared by its lines, "
        f"which are marked with a dot. Time outside of operators is {distribution}. Times in brackets are "
        "spent in called functions."
    )


# ---- modules -----------------------------------------------------------------------------------------


def _modules(report: ReportData) -> Iterable[str]:
    if report.modules is not None:
        yield from _section("modules", "modules", _module(report.modules, report.functions, 0), open=True)


def _module(module: Module, functions: Sequence[FunctionReport], depth: int) -> str:
    methods = [(index, escape(functions[index].name.rpartition(".")[2])) for index in module.functions]
    links = " ".join(f'<a href="#part{index}">{name}</a>' for index, name in methods)
    count = f"{module.parameters:,} parameters" if module.parameters else "no parameters"
    name = f"<code>{escape(module.name or 'model')}</code> {escape(module.kind)}"
    submodules = "".join(_module(child, functions, depth + 1) for child in module.children)
    attributes = f"{' open' * (depth < 2)}{' class=leaf' * (not module.children)}"
    summary = f"<summary>{name}<small>{count} {links}</small></summary>"
    return f"<details{attributes}>{summary}{submodules}</details>\n"


# ---- source and graph --------------------------------------------------------------------------------


def _function_sections(report: ReportData) -> Iterable[str]:
    hottest = sorted(range(len(report.functions)), key=lambda index: -report.functions[index].seconds)
    open_indices = {0, *hottest[:_MAX_OPEN_SECTIONS]}
    for index, function in enumerate(report.functions):
        share = (
            f"{_seconds(function.seconds)}, {100 * function.seconds / report.call:.0f}%"
            if report.call
            else ""
        )
        title = f"<code>{escape(function.name)}</code><small>{share} {escape(function.file)}</small>"
        lines = "".join(_line(index, line, report) for line in function.lines)
        content = (
            f'<div class="beside"><div><table class="source">{_heading(report)}{lines}</table></div>'
            f"<pre>{_format_lines(function.graph)}</pre></div>"
        )
        if function.picture:
            graph_section = f'<div class="picture">{function.picture}</div>'
            content += f"<details><summary>drawing of the graph</summary>{graph_section}</details>"
        yield from _section(f"part{index}", title, content, open=index in open_indices)


def _heading(report: ReportData) -> str:
    if not report.call:
        return ""
    return '<tr><th></th><th class="time">time</th><th class="number">runs</th><th></th></tr>\n'


def _line(function_index: int, line: Line, report: ReportData) -> str:
    cells = f'<td class="number">{line.number}</td>'
    heat = 0
    if report.call:
        heat = sum((line.seconds + line.below) / report.call >= threshold for threshold in _HEATS)
        own_time = _seconds(line.seconds) if line.seconds > 0 else ""
        callee_time = f" ({_seconds(line.below)})" if line.below > 0 else ""
        grouped = " grouped" * line.is_grouped
        cells += f'<td class="time{grouped}">{own_time}{callee_time}</td>'
        cells += f'<td class="number">{line.times or ""}</td>'
    warm = f' class="heat{heat}"' if heat else ""
    return f'<tr{warm} data-at="{function_index}:{line.number}">{cells}<td>{escape(line.text)}</td></tr>\n'


def _format_lines(rows: Iterable[TextLine]) -> str:
    return "".join(
        f"<span{_line_attribute(row)}>{escape(row.text)}</span>" if row.text else "<span></span>"
        for row in rows
    )


def _line_attribute(row: TextLine) -> str:
    return "" if row.line_id is None else f' data-at="{row.line_id[0]}:{row.line_id[1]}"'


def _operators(report: ReportData) -> Iterable[str]:
    if not report.operators:
        return
    rows = "".join(
        f"<tr><td><code>{escape(group.name)}</code></td><td>{escape(group.kernel)}</td>"
        f'<td class="number">{group.times}</td><td class="time">{_seconds(group.seconds)}</td></tr>\n'
        for group in report.operators
    )
    heading = '<tr><th>name</th><th>kernel</th><th class="number">runs</th><th class="time">time</th></tr>\n'
    yield from _section("operators", "operators", f'<table class="plain">{heading}{rows}</table>')
