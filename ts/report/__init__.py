"""HTML report on a function or model: source, graph, fusion groups and time per line.

`report_data` collects the data, and `html_report` converts the data to a page:

    data = collect(model.forward, (x,))
    html = page(data)
"""

from ts.report.html_report import page
from ts.report.report_data import collect

__all__ = ["collect", "page"]
