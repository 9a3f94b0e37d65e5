"""Which operators a module needs: what a runtime has to have to run its archive.

In: a scripted module.  Out: the names of the operators that its methods call, and those of its submodules:

    export_opnames(module)      ["aten::add.Tensor", "aten::relu"]
"""

from __future__ import annotations

from typing import Any

from ts.passes.inline import inline
from ts.runtime.module import ScriptModule


def export_opnames(m: Any) -> list[str]:
    """The operators of all methods, with the names of their overloads, sorted."""
    if not isinstance(m, ScriptModule):
        raise TypeError(f"export_opnames takes a scripted module, not an object of type {type(m).__name__}")
    names = set()
    for module in m.modules():
        for method in module._concrete.type.methods.values():
            graph = method.graph.copy()
            inline(graph)
            for node in graph.all_nodes():
                schema = node.schema()
                if schema is not None and not node.kind().startswith("prim::"):
                    names.add(schema.key)
    return sorted(names)
