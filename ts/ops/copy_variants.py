"""Functional operator variants without aliases, such as `select_copy` for the view `select`.

The tables list views and random in-place fills. For each of them, the module declares a variant without
aliases and writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.ops import common, cost_model
from ts.ops.operator_record import OperatorRecord, OutRecord
from ts.ops.out_variants import COPIED, NEVER
from ts.ops.registry import add, find, order

_VIEWS = (
    "alias", "as_strided", "diagonal", "expand", "permute", "select.int", "slice.Tensor", "squeeze",
    "split.Tensor", "split_with_sizes", "squeeze.dim", "squeeze.dims", "t", "transpose.int", "unbind.int",
    "unfold", "unsqueeze", "view", "view.dtype", "view_as_complex", "view_as_real",
)  # fmt: skip


def _copying(view: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(xp: Any, self: common.Array, *args: Any) -> Any:
        result = view(xp, self, *args)
        return [piece.copy() for piece in result] if isinstance(result, (list, tuple)) else result.copy()

    return kernel


def _copy_of(key: str) -> OperatorRecord:
    view = find(f"aten::{key}")
    assert view is not None, key
    head, _, rest = view.schema_text.partition("(")
    name, dot, overload = head.partition(".")
    schema = f"{name}_copy{dot}{overload}({rest}"
    for mark in ("(a -> *)", "(a)"):
        schema = schema.replace(f"Tensor{mark}", "Tensor")
    kernel = _copying(view.kernel)
    output = {"out_resized": NEVER} if key == "split.Tensor" else COPIED
    fields = {"dtype_errors": view.dtype_errors, "autocast": view.autocast, **output}
    return add(OperatorRecord(schema, kernel, "copy_variants", where="f", **fields))


for _key in _VIEWS:
    _record = _copy_of(_key)
    add(OutRecord(_record, f"{_record.overload}_out" if _record.overload else "out"))
for _text, _kernel in (
    ("aten::_fw_primal_copy(Tensor self, int level) -> Tensor", _copying(lambda xp, self, level: self)),
    ("aten::detach_copy(Tensor self) -> Tensor", _copying(lambda xp, self: self)),
):
    _record = add(OperatorRecord(_text, _kernel, "copy_variants", where="f", **COPIED))
    add(OutRecord(_record, "out"))


_DRAWN = cost_model.of(cost_model.elements, 3.5)

# Random in-place operator -> name of its functional variant. "" stands for the name of the in-place operator
# without `_`. Only scripts can call the functional variants, as methods (`x.exponential(2.0)`).
_FILLED = {
    "bernoulli_.Tensor": "", "bernoulli_.float": "bernoulli.p", "cauchy_": "", "exponential_": "",
    "geometric_": "", "log_normal_": "", "normal_": "normal_functional",
    "random_": "", "random_.from": "", "random_.to": "", "uniform_": "",
}  # fmt: skip


def _declare_filled(key: str, functional: str) -> None:
    """Declare the functional variant and the `out=` variant of the random in-place operator `key`."""
    filling = find(f"aten::{key}")
    assert filling is not None, key
    name, dot, overload = filling.key.partition(".")
    name = name.removesuffix("_")
    rest = filling.schema_text.partition("(")[2].replace("Tensor(a!)", "Tensor")
    compute = filling.kernel

    def kernel(xp: Any, self: common.Array, *args: Any) -> Any:
        return compute(xp, self.copy(), *args)

    fields: dict[str, Any] = {
        "where": "",
        "nondeterministic": True,
        "layout": "like_first",
        "work": _DRAWN,
        **COPIED,
    }
    record = OperatorRecord(f"{name}{dot}{overload}({rest}", kernel, "copy_variants", **fields)
    add(OutRecord(record, f"{overload}_out" if overload else "out"))
    if not functional:
        add(record)
    elif find(f"aten::{functional}") is None:
        add(OperatorRecord(f"aten::{functional}({rest}", kernel, "copy_variants", **fields))


for _row in _FILLED.items():
    _declare_filled(*_row)
order("aten::random", "from from_out to to_out")
order("aten::bernoulli", "- out")
