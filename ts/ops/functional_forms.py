"""Forms without aliases: `select_copy` is a copy of what `select` gives, `uniform` fills a copy.

In: a record of a view, or of what fills a tensor with random numbers; out: the form that leaves its argument
alone.  One derived record a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.ops import rules, work
from ts.ops.outputs import EXPECTED
from ts.ops.registry import Record, add, find, order, out_of

_VIEWS = (
    "alias", "as_strided", "diagonal", "expand", "permute", "select.int", "slice.Tensor", "squeeze",
    "squeeze.dim", "squeeze.dims", "t", "transpose.int", "unfold", "unsqueeze", "view", "view.dtype",
    "view_as_complex", "view_as_real",
)  # fmt: skip
_LISTS = ("split.Tensor", "split_with_sizes", "unbind.int")  # their out= forms write into lists


def _copying(view: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(xp: Any, self: rules.Array, *args: Any) -> Any:
        result = view(xp, self, *args)
        return [part.copy() for part in result] if isinstance(result, (list, tuple)) else result.copy()

    return kernel


def _copy_of(key: str) -> Record:
    view = find(f"aten::{key}")
    assert view is not None, key
    head, _, rest = view.schema_text.partition("(")
    name, dot, overload = head.partition(".")
    text = f"{name}_copy{dot}{overload}({rest}"
    for mark in ("(a -> *)", "(a)"):
        text = text.replace(f"Tensor{mark}", "Tensor")
    kernel = _copying(view.kernel)
    return add(
        Record(text, kernel, "functional_forms", where="f", refuses=view.refuses, out_refused=EXPECTED)
    )


for _key in _VIEWS:
    _record = _copy_of(_key)
    add(out_of(_record, f"{_record.overload}_out" if _record.overload else "out"))
_detached = Record(
    "aten::detach_copy(Tensor self) -> Tensor",
    _copying(lambda xp, self: self),
    "functional_forms",
    where="f",
    out_refused=EXPECTED,
)
add(_detached)
add(out_of(_detached, "out"))
for _key in _LISTS:
    _copy_of(_key)


# Scripts may call these as methods (`x.exponential(2.0)`); Python has the in-place forms only.
_DRAWN = work.of(work.elements, 3.5)
_FILLED = (
    "cauchy_", "exponential_", "geometric_", "log_normal_", "random_", "random_.from", "random_.to",
    "uniform_",
)  # fmt: skip


def _filled(key: str) -> Record:
    filling = find(f"aten::{key}")
    assert filling is not None, key
    name, dot, overload = filling.key.partition(".")
    rest = filling.schema_text.partition("(")[2].replace("Tensor(a!)", "Tensor")
    compute = filling.kernel

    def kernel(xp: Any, self: rules.Array, *args: Any) -> Any:
        return compute(xp, self.copy(), *args)

    text = f"{name.removesuffix('_')}{dot}{overload}({rest}"
    return add(Record(
        text, kernel, "functional_forms", where="", nondeterministic=True, layout="like_first", work=_DRAWN
    ))  # fmt: skip


for _key in _FILLED:
    _record = _filled(_key)
    add(out_of(_record, f"{_record.overload}_out" if _record.overload else "out"))
order("aten::random", "from from_out to to_out")
