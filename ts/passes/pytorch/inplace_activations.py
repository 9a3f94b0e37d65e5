"""Conversion between in-place and functional activations if the difference is unobservable.

`functional_to_inplace_activation` replaces `aten::relu(%x)` by `aten::relu_(%x)`. The memory of %x must be
new, and no other node may read it. `inplace_to_functional_activation` is the inverse.

An activation is a function of one tensor whose result always has the dtype of this tensor.
"""

from __future__ import annotations

from ts.analysis.alias import AliasDb
from ts.ir.graph import Graph, Node, Value
from ts.ops import registry
from ts.passes.pytorch.remove_mutation import functional_variant, remove_tensor_mutation
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def functional_to_inplace_activation(graph: Graph) -> bool:
    """Convert an activation to its in-place variant if its input is new memory that nothing else reads."""
    kinds = (kind for kind in graph.kinds() if _preserves_dtype(kind) and registry.lookup(f"{kind}_"))
    return RuleSet("inplace_activations", Rule(" ".join(kinds), _make_inplace)).apply(graph)


def _make_inplace(rewriter: Rewriter, node: Node) -> list[Value] | None:
    if not _is_last_reader(node, rewriter.aliases):
        return None
    results = rewriter.replace_kind(node, f"{node.kind()}_")
    rewriter.aliases.copy_value(node.input(), results[0])
    return results


def _is_last_reader(node: Node, aliases: AliasDb) -> bool:
    value = node.input()
    producer = value.node()
    if value.use_count() != 1 or producer.owning_block() is not node.owning_block():
        return False
    if producer.kind() in ("prim::Param", "prim::Constant") or producer.blocks() or not aliases.is_new(value):
        return False
    return not aliases.has_writers(value)


def inplace_to_functional_activation(graph: Graph) -> bool:
    """Convert in-place activations to their functional variant if the mutation is unobservable."""
    return remove_tensor_mutation(graph, lambda node: _preserves_dtype(functional_variant(node)))


def _preserves_dtype(kind: str | None) -> bool:
    records = (operator.record for operator in registry.lookup(kind or ""))
    return any(record is not None and record.preserves_dtype for record in records)
