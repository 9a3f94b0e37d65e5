"""HTML report on a function or model: source, graph, fusion groups and time per line.

    facts = collect(model.forward, (x,))         the report as data
    text = page(facts)                           the report as HTML

`report_data` collects the data, and `html_report` formats it.
"""

from ts.report.html_report import page
from ts.report.report_data import collect

__all__ = ["collect", "page"]
