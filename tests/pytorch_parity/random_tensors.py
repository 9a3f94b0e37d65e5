"""Random programs on tensors that share memory: views of views, writes, indexing, outputs.

Input: a seed; output: lines of Python with `t` (PyTorch or `ts`) and the tensors `v`, each of which creates a
tensor or writes to tensors:

    v.append(t.arange(12).view(3, 4))
    v.append(v[0][1:, ::2])
    v[1].add_(v[0][:2, :2])

`difference` executes the lines in both libraries and returns the first difference: of errors, of any
tensor's values, dtype, shape, strides, offset or version, or of the tensors that share a storage.
"""

from __future__ import annotations

import math
import random
import warnings
from typing import Any

DTYPES = ("int64", "float32", "float32", "int32", "uint8", "bool", "complex64", "float64", "bfloat16", "int8")
# Errors that one of the libraries reports before other errors of the same line.
REPORTED_FIRST = ("unsupported operation", "destination dtypes match", "without overflow")
FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


class Writer:
    """Writes random lines whose operands mostly match the shapes of existing tensors."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def pick(self, v: list[Any]) -> tuple[str, Any]:
        at = self.draw.randrange(len(v)) if self.draw.random() < 0.5 else len(v) - 1
        return f"v[{at}]", v[at]

    def dim(self, x: Any, more: int = 0) -> int:
        n = max(x.ndim + more, 1)
        return self.draw.randint(-n, n - 1) if self.draw.random() < 0.97 else self.draw.choice((n, -n - 1))

    def number(self, x: Any) -> str:
        d = self.draw
        choices = [
            str(d.randint(0, 5)),
            str(d.randint(0, 5)),
            str(d.randint(-3, 3)),
            "True",
            "2.5",
            "-0.5",
            "1j",
        ]
        return d.choices(choices, (6, 6, 3, 1, 2, 1, 0.3))[0]

    # ---- lines -----------------------------------------------------------------------------------------

    def line(self, v: list[Any]) -> str:
        kinds = (self.new, self.view, self.read, self.write, self.put, self.copied, self.out, self.geometry)
        return self.draw.choices(kinds, (1, 6, 4, 5, 4, 2, 2, 1))[0](v)

    def new(self, v: list[Any]) -> str:
        d = self.draw
        shape = [d.choice((0, 1, 1, 2, 2, 3, 3, 4, 4)) for _ in range(d.randint(0, 4))]
        dtype = d.choice(DTYPES)
        return f"v.append((t.arange({math.prod(shape)}) % 7).reshape({shape}).to(t.{dtype}))"

    def view(self, v: list[Any]) -> str:
        name, x = self.pick(v)
        d, dim = self.draw, lambda more=0: self.dim(x, more)
        size = x.shape[d.randrange(x.ndim)] if x.ndim else 1
        order = d.sample(range(x.ndim), x.ndim)
        calls = (
            "t()", "T", "mT", f"transpose({dim()}, {dim()})", f"permute({order})", f"unsqueeze({dim(1)})",
            "squeeze()", f"squeeze({dim()})", f"select({dim()}, {d.randint(-size, size)})",
            f"narrow({dim()}, {d.randint(0, size)}, {d.randint(0, size)})", "view(-1)", "reshape(-1)", "flatten()",
            f"view({self.shape_of(x.numel())})", f"reshape({self.shape_of(x.numel())})",
            f"expand({[d.choice((2, 3)), *[n if n != 1 else d.choice((1, 3)) for n in x.shape]]})",
            f"expand({[n if n != 1 else d.choice((1, 3)) for n in x.shape]})", f"diagonal({d.randint(-2, 2)})",
            f"unfold({dim()}, {d.randint(0, 3)}, {d.randint(1, 2)})", f"split({d.randint(1, 3)}, {dim()})[-1]",
            f"chunk({d.randint(1, 3)}, {dim()})[0]", f"unbind({dim()})[-1]", f"movedim({dim()}, {dim()})", "detach()",
            f"swapaxes({dim()}, {dim()})", f"flatten({dim()}, {dim()})", f"view(t.{d.choice(DTYPES)})", "real", "imag",
            f"unflatten({dim()}, {self.shape_of(size)})" if x.ndim else "t()", f"tensor_split({d.randint(1, 3)}, {dim()})[0]", "H", "data",
            f"as_strided({self.strided(x)})", "view_as(v[0])", "expand_as(v[0])", "ravel()", "positive()",
            f"squeeze({(dim(), dim())})", "resolve_conj()", "adjoint()",
        )  # fmt: skip
        call = d.choice(calls)
        if x.is_complex() and call in ("H", "adjoint()"):  # a view in PyTorch, a copy in `ts`
            call = "mT"
        return f"v.append({name}.{call})"

    def shape_of(self, numel: int) -> list[int]:
        d = self.draw
        shape: list[int] = []
        while numel > 1 and len(shape) < 3:
            factor = d.choice([n for n in range(1, numel + 1) if numel % n == 0])
            shape.append(factor)
            numel //= factor
        shape.insert(d.randint(0, len(shape)), numel)
        if d.random() < 0.2:
            shape[d.randrange(len(shape))] = -1
        return shape

    def strided(self, x: Any) -> str:
        d = self.draw
        size = [d.randint(0, 3) for _ in range(d.randint(0, 3))]
        stride = [d.randint(0, 4) for _ in size]
        offset = d.choice(("", f", {d.randint(0, 6)}"))
        return f"{size}, {stride}{offset}"

    def index(self, x: Any) -> str:
        d = self.draw
        items: list[str] = []
        left = list(x.shape)
        while (left and d.random() < 0.85) or (not items and d.random() < 0.9):
            n = left[0] if left else 1
            kind = d.random()
            if kind < 0.25:
                items.append(str(d.randint(-n, max(n - 1, 0))))
            elif kind < 0.5:
                ends = [d.choice(("", str(d.randint(-n - 1, n + 1)))) for _ in range(2)]
                items.append(":".join(ends) + d.choice(("", ":1", ":2", ":3")))
            elif kind < 0.58:
                items.append("None")
                continue
            elif kind < 0.63 and "..." not in items:
                items.append("...")
                left = left[d.randint(0, len(left)) :]
                continue
            elif kind < 0.67:
                items.append(d.choice(("True", "False", "t.tensor(True)", "t.tensor(False)")))
                continue
            elif kind < 0.75:
                items.append(f"t.tensor({[d.random() < 0.6 for _ in range(n)]})")
            elif kind < 0.79 and len(left) > 1:
                rows = [[d.random() < 0.6 for _ in range(left[1])] for _ in range(n)]
                items.append(f"t.tensor({rows}, dtype=t.bool).reshape({left[:2]})")
                left = left[1:]
            else:
                shape = d.choice(((2,), (3,), (1,), (2, 2), (2, 1), ()))
                count = math.prod(shape)
                numbers = [d.randint(-n, max(n - 1, 0)) for _ in range(count)]
                if d.random() < 0.25:
                    items.append(str(numbers))
                elif d.random() < 0.2:
                    items.append(f"np.array({numbers}).reshape({shape})")
                else:
                    dtype = d.choice(("", "", ", dtype=t.int32"))
                    items.append(f"t.tensor({numbers}{dtype}).reshape({shape})")
            left = left[1:]
        if d.random() < 0.04:
            items.append("0")
        if not items:
            return "()"
        return items[0] if len(items) == 1 and d.random() < 0.7 else f"{', '.join(items)},"

    def read(self, v: list[Any]) -> str:
        name, x = self.pick(v)
        return f"v.append({name}[{self.index(x)}])"

    def value(self, x: Any, v: list[Any]) -> str:
        d = self.draw
        kind = d.random()
        if kind < 0.45:
            return self.number(x)
        other, _ = self.pick(v)
        if kind < 0.65:
            return other
        if kind < 0.8:
            return f"{other}.to({'t.' + str(x.dtype)[6:]})"
        shape = [n if d.random() < 0.8 else 1 for n in x.shape[d.randint(0, x.ndim) :]]
        return f"(t.arange({math.prod(shape)}) % 5).reshape({shape}).to(t.{str(x.dtype)[6:]})"

    def put(self, v: list[Any]) -> str:
        name, x = self.pick(v)
        return f"{name}[{self.index(x)}] = {self.value(x, v)}"

    def write(self, v: list[Any]) -> str:
        name, x = self.pick(v)
        d = self.draw
        calls = (
            f"fill_({self.number(x)})", "zero_()", f"add_({self.value(x, v)})", f"add_({self.value(x, v)}, alpha=2)",
            f"mul_({self.value(x, v)})", f"sub_({self.value(x, v)})", f"copy_({self.pick(v)[0]})", "clamp_(0, 3)",
            "neg_()", "neg_()" if x.is_complex() else "abs_()", f"masked_fill_({name} == {name}, {self.number(x)})", "t_()", f"unsqueeze_({self.dim(x, 1)})",
            "squeeze_()", f"transpose_({self.dim(x)}, {self.dim(x)})",
            f"eq_({self.value(x, v)})", "logical_not_()",
            f"copy_({self.value(x, v)})", "square_()",
            "neg_()" if str(x.dtype) == "torch.bool" else f"cumsum_({self.dim(x)})", f"index_put_((t.tensor([0, 0]),), {self.value(x, v)}, accumulate=True)",
        )  # fmt: skip
        return f"{name}.{d.choice(calls)}"

    def copied(self, v: list[Any]) -> str:
        name, x = self.pick(v)
        d = self.draw
        form = f"memory_format=t.{d.choice(FORMATS)}"
        calls = (
            "clone()", f"clone({form})", "contiguous()", f"contiguous({form})", f"to(t.{d.choice(DTYPES)})",
            f"to(t.{d.choice(DTYPES)}, {form})", f"to({form})", "to(copy=True, dtype=None)", "double()", "add(1)",
            f"add({self.pick(v)[0]})", f"mul({self.value(x, v)})", "neg()", "abs()", "sum()", f"sum({self.dim(x)})",
            "__deepcopy__({})",
        )  # fmt: skip
        if d.random() < 0.25:
            like = d.choice(("zeros_like", "ones_like"))
            return f"v.append(t.{like}({name}, {d.choice((form, f'dtype=t.{d.choice(DTYPES)}'))}))"
        return f"v.append({name}.{d.choice(calls)})"

    def out(self, v: list[Any]) -> str:
        name, x = self.pick(v)
        into, _ = self.pick(v)
        d = self.draw
        if d.random() < 0.4:
            into = f"t.zeros({d.choice(('0', '2', list(x.shape)))}, dtype=t.{d.choice(DTYPES)})"
        call = d.choice(
            (
                f"add({name}, {self.value(x, v)}", f"mul({name}, {self.pick(v)[0]}", f"sub({name}, {self.value(x, v)}", f"atan({name}",
                f"square({name}", f"maximum({name}, {self.pick(v)[0]}", f"eq({name}, {self.value(x, v)}",
            )
        )  # fmt: skip
        return f"v.append(t.{call}, out={into}))"

    def geometry(self, v: list[Any]) -> str:
        name, x = self.pick(v)
        d = self.draw
        shape = self.shape_of(max(x.numel() - d.choice((0, 0, 1, 2)), 0))
        calls = (
            f"resize_({[max(n, 0) for n in shape]})",
            f"set_({self.pick(v)[0]})",
            f"as_strided_({self.strided(x)})",
        )
        return f"{name}.{d.choice(calls)}"


def outcome(line: str, t: Any, v: list[Any]) -> str | None:
    """Execute a line and return the class and message of its error, or None."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(line, {"t": t, "v": v, "np": np})
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return None


def kind(error: str) -> str:
    """Return the class of an error."""
    return error.partition(":")[0]


def has_grown(v: list[Any], sizes: list[int]) -> bool:
    """Return True if a storage has grown."""
    return any(x.untyped_storage().nbytes() > size for x, size in zip(v, sizes, strict=False) if size)


def facts(x: Any, version: int) -> tuple[Any, ...]:
    """Return the attributes of a tensor; strides only of dimensions with several elements."""
    steps = (
        tuple(step if n > 1 else None for step, n in zip(x.stride(), x.shape, strict=True))
        if x.numel()
        else None
    )
    values = [repr(value if isinstance(value, bool) else value + 0) for value in x.reshape(-1).tolist()]
    return (
        str(x.dtype),
        tuple(x.shape),
        steps,
        x.storage_offset() if x.numel() else None,
        x._version - version,
        values,
    )


def storages(v: list[Any]) -> list[int]:
    """Return, for every tensor, the index of the first tensor with the same storage."""
    where = [x.untyped_storage().data_ptr() if x.numel() else -i - 1 for i, x in enumerate(v)]
    return [where.index(place) for place in where]


def difference(seed: int, length: int = 25) -> str | None:
    """Return the first line after which the libraries differ, with the program up to it, or None."""
    import torch

    import ts

    writer = Writer(seed)
    theirs: list[Any] = []
    ours: list[Any] = []
    lines: list[str] = []
    versions: list[tuple[int, int]] = []
    for _ in range(length):
        line = writer.line(theirs) if theirs else writer.new(theirs)
        before = len(theirs)
        sizes = [x.untyped_storage().nbytes() for x in theirs]
        lines.append(line)
        want, got = outcome(line, torch, theirs), outcome(line, ts, ours)
        text = "\n    ".join(lines)
        if has_grown(theirs, sizes):  # PyTorch resizes the storage itself; in `ts`, other tensors keep the old one
            return None
        several = any(text in f"{want}{got}" for text in REPORTED_FIRST)
        if (want is None) != (got is None) or (want and got and not several and kind(want) != kind(got)):
            return f"seed {seed}:\n    {text}\n  torch: {want}\n  ts:    {got}"
        if len(theirs) != len(ours):
            return f"seed {seed}:\n    {text}\n  {len(theirs)} and {len(ours)} tensors"
        if len(theirs) > before:  # PyTorch's operators may have written to their results
            versions.append((theirs[-1]._version, ours[-1]._version))
        for i in range(len(theirs)):
            a, b = facts(theirs[i], versions[i][0]), facts(ours[i], versions[i][1])
            if a != b and want is not None:  # PyTorch wrote some elements before the error
                return None
            if a != b:
                return f"seed {seed}: v[{i}]\n    {text}\n  torch: {a}\n  ts:    {b}"
        if storages(theirs) != storages(ours):
            return (
                f"seed {seed}: storages\n    {text}\n  torch: {storages(theirs)}\n  ts:    {storages(ours)}"
            )
        if want is not None:
            lines.pop()
        elif len(theirs) > before and theirs[-1].numel() > 500:
            del theirs[-1], ours[-1], versions[-1]
    return None
