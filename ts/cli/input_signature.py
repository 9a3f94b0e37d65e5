"""Input signature of a model's `forward` for `ts info`, with properties inferred from the weights.

Input: a module. Output: a line for each argument of `forward`. Examples:

    x: Tensor (float32, last dimension 4, from linear fc1.weight)
    image: Tensor (float32, dimension -3 is 3, from conv2d conv.weight)
    words: Tensor (integers below 1000, from embedding embedding.weight)
    n: int = 2

A property is listed only if it always holds. Therefore, the argument must be passed unmodified to an operator
that always runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, Final

import ts
from ts.analysis.mutation import written_inputs
from ts.errors import FrontendError
from ts.ir.graph import Graph, Node, Value
from ts.ops.registry import field_by_name
from ts.passes.pass_utils import constant_value
from ts.runtime.module import ScriptModule

# name of a convolution operator -> number of its spatial dimensions
_SPATIAL_DIMS: Final = field_by_name("spatial_dims")
_GROUPS_ARGUMENT_INDEX: Final = 6  # index of the argument `groups` in the schema of a convolution


def arguments(module: ScriptModule) -> list[str]:
    """Return one line per argument of `forward`.

    The list is empty if `forward` has no arguments or fails to compile.
    """
    try:
        schema = module.archived().cls.type.methods["forward"].schema
        graph: Graph = module.inlined_graph
    except FrontendError:
        return []
    lines = []
    for argument, value in zip(schema.arguments[1:], graph.inputs()[1:], strict=True):
        default = f" = {argument.default!r}" if argument.has_default else ""
        properties = next(_implied_properties(module, graph, value), "")
        lines.append(
            f"{argument.name}: {argument.type.annotation_str}{default}{properties and f' ({properties})'}"
        )
    return lines


def _implied_properties(module: ScriptModule, graph: Graph, value: Value) -> Iterator[str]:
    """Yield the properties of the argument `value` that operators on the unmodified argument require."""
    users = [use.user for use in value.uses()]
    if any(node.schema() is not None and value in written_inputs(node) for node in users):
        # An in-place operator may change the shape. The requirements of other operators then may not hold for
        # the original argument.
        return
    for node in users:
        if node.owning_block() is not graph.block():
            continue
        name = node.kind().removeprefix("aten::")
        if name == "linear" and node.input(0) is value:
            weight, origin = _weight(module, node.input(1))
            if weight is not None:
                yield f"{_dtype(weight)}, last dimension {weight.size(-1)}, from linear {origin}"
        elif _SPATIAL_DIMS[node.kind()] and node.input(0) is value:
            weight, origin = _weight(module, node.input(1))
            groups = constant_value(node.input(_GROUPS_ARGUMENT_INDEX))
            if weight is not None and isinstance(groups, int):
                dim = -1 - _SPATIAL_DIMS[node.kind()]
                yield f"{_dtype(weight)}, dimension {dim} is {weight.size(1) * groups}, from {name} {origin}"
        elif name == "embedding" and node.input(1) is value:
            weight, origin = _weight(module, node.input(0))
            if weight is not None:
                yield f"integers below {weight.size(0)}, from embedding {origin}"


def _weight(module: ScriptModule, value: Value) -> tuple[Any, str]:
    """Return (tensor, origin) if `value` is a constant or a tensor of the module, else (None, "")."""
    if isinstance(weight := constant_value(value), ts.Tensor):
        return weight, "of a constant"
    path: list[str] = []
    node: Node = value.node()
    while node.kind() == "prim::GetAttr":
        path.insert(0, node["name"])
        node = node.input().node()
    if not path or node.kind() != "prim::Param":
        return None, ""
    weight = reduce(getattr, path, module)
    return (weight, ".".join(path)) if isinstance(weight, ts.Tensor) else (None, "")


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]
