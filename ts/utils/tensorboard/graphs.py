"""Conversion of traced models to TensorBoard graphs, with one node for each operator.

`proto, stats = graph_of(model, (x,))` traces a model. `proto` is the graph, and `stats` is empty metadata.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

import ts


def graph_of(
    model: Any, args: Any, verbose: bool = False, strict: bool = True
) -> tuple[GraphDef, RunMetadata]:
    """Trace a model and return its GraphDef and empty run metadata."""
    example_inputs = args if isinstance(args, tuple) else (args,)
    traced: Any = (
        model
        if isinstance(model, ts.jit.ScriptModule)
        else ts.jit.trace(model, example_inputs, strict=strict)
    )
    graph = traced.inlined_graph
    if verbose:
        print(graph)
    names: dict[Any, str] = {}
    nodes: list[NodeDef] = []
    for value in list(graph.inputs())[1:]:
        names[value] = f"input/{value.debugName()}"
        nodes.append(_node(names[value], "IO Node", [], value))
    for node in graph.all_nodes():
        kind = node.kind()
        if kind in ("prim::Constant", "prim::GetAttr", "prim::ListConstruct", "prim::TupleConstruct"):
            continue
        scope = node.scopeName().replace("::", "/")
        outputs = list(node.outputs())
        label = outputs[0].debugName() if outputs else kind
        name = "/".join(filter(None, [scope, f"{kind.rpartition('::')[2]}_{label}"]))
        inputs = sorted({n for value in node.inputs() for n in _sources(value, names)})
        names.update(dict.fromkeys(outputs, name))
        nodes.append(_node(name, kind, inputs, outputs[0] if outputs else None))
    for value in graph.outputs():
        nodes.append(_node(f"output/{value.debugName()}", "IO Node", _sources(value, names), value))
    return GraphDef(node=nodes, versions=VersionDef(producer=22)), RunMetadata()


def _sources(value: Any, names: dict[Any, str]) -> list[str]:
    """Return the names of the nodes that produce a value, also of the elements of lists and tuples."""
    if value in names:
        return [names[value]]
    node = value.node()
    if node.kind() in ("prim::ListConstruct", "prim::TupleConstruct"):
        return [name for each in node.inputs() for name in _sources(each, names)]
    return []


def _node(name: str, kind: str, inputs: list[str], value: Any) -> NodeDef:
    sizes = getattr(value.type(), "sizes", lambda: None)() if value is not None else None
    attributes = {}
    if sizes is not None and all(size is not None for size in sizes):
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])
        attributes["_output_shapes"] = AttrValue(list=AttrValue.ListValue(shape=[shape]))
    return NodeDef(name=name, op=kind, input=inputs, attr=attributes)
