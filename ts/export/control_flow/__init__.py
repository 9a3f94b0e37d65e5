"""Control flow in exports: functions become graphs in the module, and calls of operators on them nodes.

    cond(flag, lambda x: x + y, f, (x,))       node cond(flag, true_graph_0, false_graph_0, (x, y))

What the functions take from around them (`y`) becomes an input of their graphs.
"""

from __future__ import annotations

from ts.export.control_flow.batches import record_vmap
from ts.export.control_flow.branches import record_cond
from ts.export.control_flow.loops import record_map, record_scan, record_while_loop
from ts.export.control_flow.subgraphs import name_inputs
from ts.export.recorder import CONTROL_FLOW

CONTROL_FLOW |= {
    "cond": record_cond,
    "map_impl": record_map,
    "scan": record_scan,
    "vmap": record_vmap,
    "while_loop": record_while_loop,
}

__all__ = ["name_inputs"]
