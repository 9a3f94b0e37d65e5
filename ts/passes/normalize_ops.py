"""One spelling for operators that have several.

    %y : Tensor = aten::absolute(%x)         =>    %y : Tensor = aten::abs(%x)
    %z : Tensor = aten::rsub(%x, %y, %a)     =>    %z : Tensor = aten::sub(%y, %x, %a)
    %b : bool = aten::__is__(%p, %q)         =>    %b : bool = aten::eq(%p, %q)          (of two bools)

Later passes, and the operator records, then meet one name for one thing.
"""

from __future__ import annotations

from typing import Final

from ts.ir.graph import Block, Graph, Node
from ts.passes.control_flow import nodes_of

# Synonym -> operator. Where both have an in-place form, that is renamed as well.
_ALIASES: Final = {
    "absolute": "abs",
    "adjoint": "mH",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "det": "linalg_det",
    "divide": "div",
    "fix": "trunc",
    "ger": "outer",
    "greater": "gt",
    "greater_equal": "ge",
    "inverse": "linalg_inv",
    "less": "lt",
    "less_equal": "le",
    "linalg_matmul": "matmul",
    "matrix_exp": "linalg_matrix_exp",
    "matrix_power": "linalg_matrix_power",
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "orgqr": "linalg_householder_product",
    "row_stack": "vstack",
    "special_digamma": "digamma",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_erfinv": "erfinv",
    "special_exp2": "exp2",
    "special_expit": "sigmoid",
    "special_expm1": "expm1",
    "special_gammainc": "igamma",
    "special_gammaincc": "igammac",
    "special_gammaln": "lgamma",
    "special_i0": "i0",
    "special_log1p": "log1p",
    "special_log_softmax": "log_softmax",
    "special_logit": "logit",
    "special_logsumexp": "logsumexp",
    "special_multigammaln": "mvlgamma",
    "special_polygamma": "polygamma",
    "special_psi": "digamma",
    "special_round": "round",
    "special_sinc": "sinc",
    "special_softmax": "softmax",
    "special_xlogy": "xlogy",
    "subtract": "sub",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "true_divide": "div",
}
_CANONICAL: Final = {
    f"aten::{alias}{suffix}": f"aten::{name}{suffix}"
    for alias, name in _ALIASES.items()
    for suffix in ("", "_")
}
_BOOL_COMPARISONS: Final = {"aten::__is__": "aten::eq", "aten::__isnot__": "aten::ne"}


def normalize_ops(graph: Graph) -> bool:
    """Rename operators to their canonical spelling."""
    return _visit(graph.block())


def _visit(block: Block) -> bool:
    changed = False
    for node in list(nodes_of(block)):
        kind = node.kind()
        inputs = node.inputs()
        if kind in _CANONICAL:
            _replace(node, _CANONICAL[kind])
        elif kind == "aten::rsub" and all(value.type().kind() == "TensorType" for value in inputs[:2]):
            _replace(node, "aten::sub", swap=True)
        elif kind in _BOOL_COMPARISONS and all(value.type().kind() == "BoolType" for value in inputs):
            _replace(node, _BOOL_COMPARISONS[kind])
        else:
            continue
        changed = True
    return changed


def _replace(node: Node, kind: str, swap: bool = False) -> None:
    inputs = list(node.inputs())
    if swap:
        inputs[:2] = reversed(inputs[:2])
    replacement = node.owning_graph().create(kind, inputs, len(node.outputs()))
    replacement.copy_metadata(node)
    replacement.insert_before(node)
    for old, new in zip(node.outputs(), replacement.outputs(), strict=True):
        new.copy_metadata(old)
        old.replace_all_uses_with(new)
    node.destroy()
