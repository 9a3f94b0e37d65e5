"""HTML report of a function or model: source, graph, fusion groups and line timings.

    facts = collect(model.forward, (x,))         what there is to say, as data
    text = page(facts)                           the same as HTML

`facts` looks, `page` writes; neither knows the other's business.
"""

from ts.report.html_report import page
from ts.report.report_data import collect

__all__ = ["collect", "page"]
