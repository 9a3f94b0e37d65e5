"""Fusion of a matrix product and an addition into `addmm`.

The pass replaces the nodes on the left by the node on the right:

    %m : Float(*, *) = aten::mm(%x, %w)
    %y : Tensor = aten::add(%m, %b, %one)      =>    %y : Tensor = aten::addmm(%b, %x, %w, %one, %one)

The tensors must have types (`propagate_types`). Factors and summand must have the same floating dtype. The
summand has at most two dimensions. No node may write to the operands or the product.

Unlike `add`, `addmm` does not expand the product to the shape of the summand. The pass requires sizes that
exclude such an expansion. (PyTorch always fuses.) Fusion changes rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ts.dtypes import BY_CODE
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import TensorType
from ts.passes.dce import eliminate_dead_code
from ts.passes.pass_utils import constant_value
from ts.passes.rewriter import Rewriter, Rule, RuleSet


def fuse_addmm(graph: Graph) -> bool:
    """Fuse matrix products with additions of their results."""
    return _RULES.apply(graph) and (eliminate_dead_code(graph) or True)


def _fuse(rewriter: Rewriter, node: Node) -> list[Value] | None:
    terms = _terms(node)
    if terms is None:
        return None
    product, summand = terms
    if any(map(rewriter.is_written, (*product.inputs(), product.output(), summand))):
        return None
    one = node.input(2)
    return rewriter.replace_kind(node, "aten::addmm", [summand, *product.inputs(), one, one])


def _terms(add: Node) -> tuple[Node, Value] | None:
    """Return the matrix product and the summand of a fusible addition, or None for other additions."""
    if len(add.inputs()) != 3 or constant_value(add.input(2)) != 1:
        return None
    first, second, _ = add.inputs()
    for value, other in ((first, second), (second, first)):
        product = value.node()
        if product.kind() == "aten::mm" and _is_valid_summand(product, other):
            return product, other
    return None


def _is_valid_summand(product: Node, summand: Value) -> bool:
    """Return whether `addmm` accepts `summand`, by its dtype, its rank and its known sizes."""
    types = [value.type() for value in (*product.inputs(), summand)]
    if not all(isinstance(type, TensorType) for type in types):
        return False
    x, w, b = (type for type in types if isinstance(type, TensorType))
    if x.scalar_type is None or not BY_CODE[x.scalar_type].is_floating_point:
        return False
    if not x.scalar_type == w.scalar_type == b.scalar_type or b._sizes is None:
        return False
    return len(b._sizes) <= 2 and _is_broadcastable_to_product(x, w, b._sizes)


def _is_broadcastable_to_product(x: TensorType, w: TensorType, sizes: Sequence[int | None]) -> bool:
    """Return whether a summand with sizes `sizes` never broadcasts the product to a larger shape.

    This holds if, in each dimension, the summand has size 1, or the product has a known size other than 1.
    """
    rows, columns = (x._sizes or (None, None))[0], (w._sizes or (None, None))[-1]
    expected_sizes = (rows, columns)[2 - len(sizes) :]
    return all(n == 1 or m not in (None, 1) for n, m in zip(sizes, expected_sizes, strict=True))


_RULES: Final = RuleSet("fuse_addmm", Rule("aten::add", _fuse), leaves_dead_nodes=True)
