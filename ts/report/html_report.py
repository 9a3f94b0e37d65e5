"""Conversion of report data to one self-contained HTML page.

Input: `ReportData`. Output: the text of a file. Security: the contents are untrusted. All text is escaped,
and the content security policy of the page allows only the script and the style of the page, by hash, and no
requests.
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

_HEATS = (0.005, 0.02, 0.08, 0.2, 0.4)  # lower limits of heat levels: fractions of the call's time
_MAX_OPEN_SECTIONS = 6  # number of sections that are expanded when the page is opened


def page(facts: ReportData) -> str:
    """Return the HTML text of a report."""
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    style += STYLE
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    name = escape(facts.name)
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{name}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            f"<header><h1>{name}</h1><p>{_summary(facts)}</p>",
            '<span id="count"></span><input id="search" type="search" placeholder="search  /" ',
            'aria-label="search"></header>\n<main>\n',
            *_modules(facts),
            *_function_sections(facts),
            *_section(
                "plan",
                "what runs as one",
                f"<pre>{_format_lines(map(TextLine, facts.plan.splitlines()))}</pre>",
            ),
            *_operators(facts),
            *_section("optimised", "the graph that runs", f"<pre>{_format_lines(facts.optimised)}</pre>"),
            *_section(
                "bytecode",
                "bytecode",
                f"<pre>{_format_lines(map(TextLine, facts.bytecode.splitlines()))}</pre>",
            ),
            f"<footer>{_footer(facts)}</footer>\n</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _section(id: str, title: str, content: str, open: bool = False) -> Iterable[str]:
    yield f'<details id="{id}"{" open" * open}><summary>{title}</summary>\n{content}</details>\n'


def _seconds(seconds: float) -> str:
    return time_text(seconds * 1e6)


def _summary(facts: ReportData) -> str:
    count = f"{len(facts.functions)} function{'s' * (len(facts.functions) != 1)}"
    if facts.call is None:
        return f"{count}, not measured"
    return f"{_seconds(facts.call)} a call, of that {_seconds(facts.between)} between operators; {count}"


def _footer(facts: ReportData) -> str:
    version_note = f"Made by ts {escape(ts.version.ts)}."
    if facts.call is None:
        return f"{version_note} With arguments, lines have times."
    counted, uncounted = "shared out by the instructions of each line", "no line's: counting took too long"
    return (
        f"{version_note} Times are those of the best of several calls on {ts.get_num_threads()} threads. "
        "Operators were measured in a call of their own; a group's time is shared by the lines with a dot, "
        f"whose operators are in it. What no operator takes is {counted if facts.is_counted else uncounted}. "
        "In brackets: what runs in functions that a line calls."
    )


# ---- modules -----------------------------------------------------------------------------------------


def _modules(facts: ReportData) -> Iterable[str]:
    if facts.modules is not None:
        yield from _section("modules", "modules", _module(facts.modules, facts.functions, 0), open=True)


def _module(module: Module, functions: Sequence[FunctionReport], depth: int) -> str:
    methods = [(index, escape(functions[index].name.rpartition(".")[2])) for index in module.functions]
    links = " ".join(f'<a href="#part{index}">{name}</a>' for index, name in methods)
    count = f"{module.parameters:,} parameters" if module.parameters else "no parameters"
    name = f"<code>{escape(module.name or 'model')}</code> {escape(module.kind)}"
    inside = "".join(_module(child, functions, depth + 1) for child in module.children)
    attributes = f"{' open' * (depth < 2)}{' class=leaf' * (not module.children)}"
    return f"<details{attributes}><summary>{name}<small>{count} {links}</small></summary>{inside}</details>\n"


# ---- source and graph --------------------------------------------------------------------------------


def _function_sections(facts: ReportData) -> Iterable[str]:
    hottest = sorted(range(len(facts.functions)), key=lambda index: -facts.functions[index].seconds)
    open_indices = {0, *hottest[:_MAX_OPEN_SECTIONS]}
    for index, report in enumerate(facts.functions):
        share = f"{_seconds(report.seconds)}, {100 * report.seconds / facts.call:.0f}%" if facts.call else ""
        title = f"<code>{escape(report.name)}</code><small>{share} {escape(report.file)}</small>"
        lines = "".join(_line(index, line, facts) for line in report.lines)
        content = (
            f'<div class="beside"><div><table class="source">{_heading(facts)}{lines}</table></div>'
            f"<pre>{_format_lines(report.graph)}</pre></div>"
        )
        if report.picture:
            picture = f'<div class="picture">{report.picture}</div>'
            content += f"<details><summary>picture of the graph</summary>{picture}</details>"
        yield from _section(f"part{index}", title, content, open=index in open_indices)


def _heading(facts: ReportData) -> str:
    if not facts.call:
        return ""
    return '<tr><th></th><th class="time">time</th><th class="number">runs</th><th></th></tr>\n'


def _line(function_index: int, line: Line, facts: ReportData) -> str:
    cells = f'<td class="number">{line.number}</td>'
    heat = 0
    if facts.call:
        heat = sum((line.seconds + line.below) / facts.call >= threshold for threshold in _HEATS)
        own = _seconds(line.seconds) if line.seconds > 0 else ""
        below = f" ({_seconds(line.below)})" if line.below > 0 else ""
        grouped = " grouped" * line.is_grouped
        cells += f'<td class="time{grouped}">{own}{below}</td>'
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


def _operators(facts: ReportData) -> Iterable[str]:
    if not facts.operators:
        return
    rows = "".join(
        f"<tr><td><code>{escape(work.name)}</code></td><td>{escape(work.kernel)}</td>"
        f'<td class="number">{work.times}</td><td class="time">{_seconds(work.seconds)}</td></tr>\n'
        for work in facts.operators
    )
    heading = '<tr><th>name</th><th>kernel</th><th class="number">runs</th><th class="time">time</th></tr>\n'
    yield from _section("operators", "operators", f'<table class="plain">{heading}{rows}</table>')
