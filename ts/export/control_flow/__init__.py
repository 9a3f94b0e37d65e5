"""Control-flow capture in exports: branch and body functions become subgraphs.

A call of `cond`, `while_loop`, `map` or `scan` becomes a node with the subgraphs as arguments. Variables from
outside of a function become inputs of its subgraph. In this example, `y` is such a variable:

    call    cond(flag, lambda x: x + y, f, (x,))
    node    cond(flag, true_graph_0, false_graph_0, (x, y))
"""

from __future__ import annotations

from ts.export.control_flow.cond_capture import record_cond
from ts.export.control_flow.loop_capture import record_map, record_scan, record_while_loop
from ts.export.control_flow.subgraphs import name_inputs
from ts.export.control_flow.vmap_capture import record_vmap
from ts.export.tracer import CONTROL_FLOW

CONTROL_FLOW |= {
    "cond": record_cond,
    "map_impl": record_map,
    "scan": record_scan,
    "vmap": record_vmap,
    "while_loop": record_while_loop,
}

__all__ = ["name_inputs"]
