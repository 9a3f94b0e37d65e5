"""The table of all operators, made from their records.

In: the registry, and the samples of `tests.samples`, which tell the dtypes that an operator takes.  Out:
`docs/operators.md`.  To bring it up to date:

    python -m tests.operators
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ts
from tests import samples
from ts.ops import registry, shapes

PAGE = Path(__file__).parent.parent / "docs" / "operators.md"

HEAD = """\
# Operators

Every operator that `ts` has, by family (the module in `ts/ops/` that declares it). Schemas are PyTorch's, letter for letter.

- **Forms**: `f` a function (`ts.add`), `m` a method (`x.add`), `_` in place, `out` with `out=`.
- **Dtypes**: `b` bool, `i` integers, `h` float16 and bfloat16 (computed in float32, rounded once), `f` float32 and float64,
  `c` complex64 and complex128; found by calling the operator.
- **Fused**: `cpu` runs as an inner loop that pointwise groups can be made of, `cuda` has an expression for CUDA kernels.
- **Gradient**: there are none yet.
- **Backends**: all operators run on `cpu`, and on `cuda` from the same kernels (what CuPy lacks runs on the host, with a warning).
  On `meta` they give shapes, dtypes and strides.
- **Shape**: how the record knows them there: by its kernel, run against a namespace whose functions know shapes only, by a rule (its
  name), by the tensors that it moves, or not at all, because results depend on elements; then it is refused, as PyTorch refuses it.

How numbers may differ from PyTorch's: [numerics.md](numerics.md). This page is generated from the records by
`python -m tests.operators`.
"""

# Of PyTorch's operator database: what has no operator here, and why.
MISSING = {
    "_scaled_mm": "takes 8-bit floats, which `ts` does not have",
    "_scaled_mm_v2": "takes 8-bit floats, which `ts` does not have",
    "_flash_attention_forward": "a kernel of one kind of GPU; `scaled_dot_product_attention` is there",
    "_efficient_attention_forward": "a kernel of one kind of GPU; `scaled_dot_product_attention` is there",
    "_batch_norm_with_update": "an internal step of `batch_norm`, which is there",
    "max_pool2d_with_indices_backward": "gradients come with automatic differentiation",
    "to_sparse": "sparse tensors are out of scope",
}
GROUPS = {"b": (0,), "i": (1, 2, 3, 4, 5), "h": (6, 7), "f": (8, 9), "c": (10, 11)}


def dtypes(record: Any) -> str:
    """The letters of the dtypes that the record takes."""
    took = set()
    for i, dtype in enumerate(samples.DTYPES):
        args = samples.arguments(record, dtype)
        if args is None:
            return "?"
        if not any(isinstance(a, ts.Tensor) or (isinstance(a, list) and a and isinstance(a[0], ts.Tensor)) for a in args):
            return ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                samples.operator(record)(*args)
        except samples.REFUSALS:
            continue
        took.add(i)
    return "".join(letter for letter, members in GROUPS.items() if took & set(members))


def rows(records: list[Any]) -> Iterator[str]:
    """A line of the table for each record that is not derived from another."""
    derived: dict[int, set[str]] = {}
    for record in records:
        if record.base is not None:
            derived.setdefault(id(record.base), set()).add({"inplace": "_"}.get(record.variant, record.variant))
    for record in records:
        if record.base is not None:
            continue
        named = registry._namespaced(record.name.removeprefix("aten::"))
        forms = ["f"] if named else list(record.where)
        forms += sorted(derived.get(id(record), ()))
        fused = [place for place, has in (("cpu", record.ufunc or record.loop), ("cuda", record.cuda)) if has]
        shape = shapes.described(record.shape, record.whole)
        schema = record.schema_text.removeprefix("aten::").replace("|", "\\|")
        yield f"| `{schema}` | {' '.join(forms)} | {dtypes(record)} | {' '.join(fused)} | {shape} |"


def page() -> str:
    """The text of docs/operators.md."""
    registry.load()
    everything = registry.records()
    names = {r.name for r in everything}
    lines = [HEAD, f"{len(names)} operators, {len(everything)} overloads.\n"]
    for family in registry.FAMILIES:
        records = [r for r in everything if r.family == family]
        if not records:
            continue
        lines += [f"## {family}\n", "| Schema | Forms | Dtypes | Fused | Shape |", "|---|---|---|---|---|"]
        with ts.set_grad_enabled(ts.is_grad_enabled()):  # which an operator among them switches
            lines += [*rows(records), ""]
    lines += ["## Missing\n", "| Operator | Why |", "|---|---|"]
    lines += [f"| {name} | {why} |" for name, why in MISSING.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
