"""Random programs that compute with sizes: each line creates a tensor or number from earlier ones.

    a = x.reshape(-1)
    b = a[n // 2:]
    c = b + 1 if a.shape[0] > 5 else b * 2
    return c, n

A random line is added to the program if it runs on the example.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

import ts
from ts.export import Dim

NUMBERS = (  # t: a tensor; d: a dimension of t; p, q: numbers; k: a small int
    "t.shape[d]", "t.shape[d]", "t.shape[d]", "t.size(d)", "t.numel()", "len(t)", "t.ndim", "p + k", "p - k", "p * k", "p // k", "p % k",
    "k - p", "p * q", "p + q", "p - q", "p // q", "p % q", "max(p, k)", "min(p, k)", "max(p, q)", "min(p, q)",
    "ts.sym_max(p, q)", "ts.sym_min(p, k)", "int(p / k)", "p ** 2", "-p", "-(-p // k)", "abs(p - q)", "round(p / k)",
    "(p if p > k else q)", "ts.sym_int(p / k)", "math.ceil(p / k)", "int(p > k)", "(p + k) // k * k", "k",
)  # fmt: skip

TENSORS = (  # t, u: tensors; d, e: dimensions; p, q: numbers; k, l: small ints
    "t + 1", "t * t", "t + u", "t * u", "t @ u", "ts.relu(t) - t", "t.sum(d)", "t.sum()", "t.sum(d, keepdim=True)", "t.mean(d)", "t.amax(d)",
    "t.cumsum(d)", "t.reshape(-1)", "t.flatten()", "t.flatten(d)", "t.flatten(d, e)", "t.reshape(p, -1)",
    "t.reshape(-1, p)", "t.reshape(p, q)", "t.reshape(k, -1)", "t.view(-1, k)", "t.view(-1)", "t.view(p, -1)", "t.view(t.shape)",
    "t.unsqueeze(d)", "t.unsqueeze(0)", "t.squeeze(d)", "t.squeeze()", "t.permute(*range(t.ndim)[::-1])",
    "t.transpose(d, e)", "t.movedim(d, e)", "t.flip(d)", "t.roll(k, d)", "t.roll(p, d)", "t[k:]", "t[:k]", "t[-k:]", "t[:-k]",
    "t[p:]", "t[:p]", "t[::k]", "t[k::l]", "t[..., k:]", "t[..., :p]", "t[p:q]", "t[0]", "t[-1]", "t[k]", "t[p]", "t[..., 0]",
    "t[None]", "t[:, None]", "t.narrow(d, k, p)", "t.narrow(d, 0, p)", "t.select(d, k)", "t.select(d, -1)",
    "ts.cat([t, t], d)", "ts.cat([t, u], d)", "ts.cat([t, u])", "ts.stack([t, t], d)", "ts.stack([t, u])", "t.expand(k, *t.shape)",
    "t.expand(p, *t.shape)", "t.expand_as(u)", "t.unsqueeze(d).expand(*[-1] * d, p, *[-1] * (t.ndim - d))", "t.broadcast_to(u.shape)",
    "t.repeat(*[k] * t.ndim)", "t.repeat(p, *[1] * (t.ndim - 1))", "t.repeat_interleave(k, d)", "t.tile(k)", "t.tile((p,))", "t.chunk(k, d)[0]", "t.chunk(k, d)[-1]",
    "t.split(k, d)[0]", "t.split(k, d)[-1]", "t.split(p, d)[0]", "t.split(p, d)[-1]", "t.tensor_split(k, d)[-1]", "t.unbind(d)[0]",
    "t.split([p, t.shape[d] - p], d)[1]", "t.unfold(d, k, l)", "t.unfold(d, k, 1)", "t.diagonal()", "t.tril()", "t.triu(k)", "t.diag()",
    "F.pad(t, (k, l))", "F.pad(t, (0, p))", "F.pad(t, (-k, l))", "F.pad(t, (k, l), mode='reflect')", "F.pad(t, (k, l), mode='circular')", "F.pad(t, (k, l), mode='replicate')",
    "F.max_pool1d(t, k)", "F.avg_pool1d(t, k)", "F.max_pool1d(t, k, l)", "F.avg_pool1d(t, k, l, ceil_mode=True)", "F.max_pool1d(t, k, l, ceil_mode=True)",
    "F.adaptive_avg_pool1d(t, k)", "F.adaptive_max_pool1d(t, k)", "F.max_pool2d(t, k)", "F.avg_pool2d(t, k)", "F.adaptive_avg_pool2d(t, k)", "F.interpolate(t[None, None], scale_factor=2)", "F.interpolate(t, size=p)", "F.pixel_shuffle(t, k)",
    "ts.arange(p)", "ts.arange(k, p)", "ts.arange(p, q)", "ts.arange(0, p, k)", "ts.zeros(p)", "ts.ones(p, k)", "ts.full((p,), q)",
    "ts.linspace(0, 1, p)", "ts.eye(p)", "ts.eye(p, q)", "ts.zeros_like(t)", "t.new_zeros(p, q)", "t.new_ones(p)", "t * p", "t + p / q", "t / p", "p - t",
    "ts.where(t > 0, t, p)", "t.softmax(d)", "t.var(d)", "t.std(d)", "t.var()", "t.argmax(d)", "t.sort(d)[0]", "t.topk(k, d)[0]", "t.topk(p, d)[0]", "t.clamp(max=p)",
    "t.contiguous() * 1", "t.clone()", "t.t().contiguous() * 1", "t.double()", "t.T.reshape(-1) * 1", "t.mT", "ts.outer(t, u)", "ts.einsum('...i,...i->...', t, t)",
    "t.index_select(d, ts.arange(p))", "t[ts.arange(p)]", "t.gather(d, ts.zeros_like(t, dtype=ts.int64))", "t.unflatten(d, (k, -1))", "t.unflatten(d, (-1, k))", "t.unflatten(d, (p, q))",
    "F.layer_norm(t, t.shape[-1:])", "F.layer_norm(t, (p,))", "F.normalize(t, dim=d)", "F.glu(t, d)", "F.one_hot(ts.arange(p), p)", "ts.meshgrid(t, u, indexing='ij')[0]", "ts.tril(ts.ones(p, q), k - l)",
    "ts.linalg.vector_norm(t, dim=d)", "t.norm()", "ts.nn.functional.conv1d(t, ts.ones(1, t.shape[-2], k), padding=l)", "ts.logsumexp(t, d)", "ts.cumprod(t, d)", "ts.rot90(t)", "ts.kron(t, u)", "ts.cdist(t, u)",
    "ts.searchsorted(ts.arange(p), k)", "ts.atleast_2d(t)", "ts.hstack([t, u])", "ts.vstack([t, u])", "ts.swapaxes(t, d, e)", "ts.broadcast_tensors(t, u)[0]", "ts.bmm(t, t.mT)", "ts.mm(t, t.t())", "ts.addmm(u, t, t.t())",
    "(t + 1 if t.shape[d] > k else t * 2)", "(t[:k] if p > q else t[k:])", "(t.sum(d) if p % k == 0 else t.amax(d))", "(t if p == q else t * 3)", "(t * 5 if p >= k else t)", "(t * 7 if t.shape[d] == 1 else t)",
    "(t - 1 if p and q else t)", "sum(t * i for i in range(t.ndim))", "sum((t[i] for i in range(len(t))), ts.zeros(1))", "ts.stack([t[i] * i for i in range(min(len(t), k))])", "(t if len(t) else t.sum())",
    "ts.stack([s.sum() for s in t.split(k)])", "ts.stack([s.sum() for s in t.chunk(k)])", "ts.cat([s * 2 for s in t.tensor_split(k)])", "ts.full_like(t, p)", "ts.tensor(p) + t", "(t * 2 if t.is_contiguous() else t)",
    "(t * 2 if t.stride(0) > k else t)", "(t * 2 if t.shape == u.shape else t)", "(t + len(t.chunk(k)))",
)  # fmt: skip

WRITES = (
    "t.add_(1)", "t[0] = 5", "t[-1] = 5", "t[p] = 4", "t[k:] = 3", "t[:p] = 3", "t[..., 0] += 1", "t[k:].mul_(2)", "t.mul_(p)", "t.view(-1)[0] = 7", "t.view(-1)[:k].zero_()", "t.unsqueeze(0).add_(1)",
    "t.transpose(0, -1)[0] = 9", "t[::2] = 1", "t.select(d, 0).fill_(3)", "t.fill_(p)", "t.copy_(u)", "t.zero_()", "t[k:p] = 8", "t.narrow(d, 0, k).add_(2)",
)  # fmt: skip


@dataclass
class Random:
    """A program with example shapes and dynamic size specifications."""

    lines: list[str]
    shapes: list[tuple[int, ...]]  # example shapes of the arguments x and y
    dims: list[dict[int, str]]  # dynamic sizes, as Python source: "AUTO", "Dim('n', min=2)", "2*n"
    sizes: list[list[tuple[int, ...]]]  # shapes of the arguments of later calls

    @property
    def source(self) -> str:
        names = ", ".join("xy"[: len(self.shapes)])
        return "\n".join([f"def forward(self, {names}):", *(f"    {line}" for line in self.lines)])

    def function(self, library: Any = ts) -> Any:
        """Return the program's lines compiled as a function."""
        return _compiled(self.source, library)

    def arguments(self, shapes: list[tuple[int, ...]], library: Any = ts) -> tuple[Any, ...]:
        """Return tensors with these sizes."""
        return tuple(argument(shape, k, library) for k, shape in enumerate(shapes))

    def dynamic_shapes(self, dim: Any = Dim) -> tuple[dict[int, Any], ...]:
        """Return the dynamic shape specification of the program."""
        known: dict[str, Any] = {}
        for name in ("m", "n"):
            for text in [t for each in self.dims for t in each.values() if t.startswith(f"Dim('{name}'")]:
                known[name] = eval(text, {"Dim": dim})
        scope = {"Dim": dim, **known}
        return tuple(
            {i: known[t[5]] if t.startswith("Dim('") else eval(t, scope) for i, t in each.items()}
            for each in self.dims
        )

    def __repr__(self) -> str:
        return f"{self.source}\nshapes={self.shapes} dims={self.dims}\nsizes={self.sizes}"


def argument(shape: tuple[int, ...], k: int, library: Any = ts) -> Any:
    """Return a tensor of distinct numbers."""
    count = 1
    for n in shape:
        count *= n
    return library.sin(library.arange(count, dtype=library.float32) * 1.7 + k).reshape(shape)


def _compiled(source: str, library: Any) -> Any:
    import math

    scope: dict[str, Any] = {"ts": library, "F": library.nn.functional, "math": math}
    exec(source, scope)
    return scope["forward"]


@dataclass
class _Writing:
    """A program during its generation, with the example values of its names."""

    draw: Any
    scope: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    def one(self, choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def line(self) -> None:
        """Add a line if it runs on the example with a small result."""
        kind = self.draw(st.integers(0, 9))
        table = NUMBERS if kind < 3 else WRITES if kind == 3 else TENSORS
        text = self._filled(self.one(table))
        if text is None:
            return
        name = f"{'n' if table is NUMBERS else 'a'}{len(self.lines)}"
        statement = text if table is WRITES else f"{name} = {text}"
        before = (
            {k: v.clone() if isinstance(v, ts.Tensor) else v for k, v in self.scope.items()}
            if table is WRITES
            else None
        )
        try:
            exec(statement, self.scope)
        except Exception:
            if before is not None:
                self.scope.update(before)
            return
        found = self.scope.get(name)
        if (isinstance(found, ts.Tensor) and found.numel() > 3000) or (
            isinstance(found, int) and abs(found) > 500
        ):
            return
        self.lines.append(statement)
        if table is not WRITES:
            (self.tensors if isinstance(found, ts.Tensor) else self.numbers).append(name)

    def _filled(self, template: str) -> str | None:
        """Return a template with names and numbers filled in."""
        t, u = self.one(self.tensors), self.one(self.tensors)
        rank = max(self.scope[t].ndim, 1)
        given = {
            "t": t, "u": u, "d": str(self.draw(st.integers(-1, rank - 1))), "e": str(self.draw(st.integers(0, rank - 1))),
            "k": str(self.draw(st.integers(1, 4))), "l": str(self.draw(st.integers(1, 3))),
        }  # fmt: skip
        if self.numbers:
            given |= {"p": self.one(self.numbers), "q": self.one(self.numbers)}
        import re

        if not self.numbers and re.search(r"\b[pq]\b", template):
            return None
        return re.sub(r"\b[tudeklpq]\b(?!['=\"(])", lambda m: given[m[0]], template)


SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33)
KINDS = (
    "Dim.AUTO", "Dim.AUTO", "Dim.DYNAMIC", "Dim.AUTO(min=3, max=9)", "Dim('n')", "Dim('n', min=2)",
    "Dim('n', min=2, max=12)", "Dim('n', min=4, max=8)", "Dim('m', min=3)", "2 * n", "n + 1", "3 * n - 1", "n - 1",
)  # fmt: skip


@st.composite
def programs(draw: Any) -> Random:
    """Generate programs over one or two tensors, dynamic shape specifications, and sizes for calls."""
    shapes, dims = [], []
    n, m = draw(st.integers(3, 8)), draw(st.integers(3, 8))
    numbers = {"n": n, "m": m}
    has_root = False
    for _ in range(draw(st.integers(1, 2))):
        rank = draw(st.integers(1, 3))
        shape = [draw(st.sampled_from((n, n, m, 2, 3, 4, 5, 6, 8))) for _ in range(rank)]
        declared: dict[int, str] = {}
        for i in range(rank):
            kind = draw(st.sampled_from(("", *KINDS)))
            if kind.startswith("Dim('"):
                if any(kind[:6] == t[:6] for each in [*dims, declared] for t in each.values()):
                    kind = next(t for each in [*dims, declared] for t in each.values() if kind[:6] == t[:6])
                shape[i] = numbers[kind[5]]
                if "max=8" in kind and n < 4:
                    continue
                has_root |= kind[5] == "n"
            elif "n" in kind.replace("Dim.DYNAMIC", "").replace("min", ""):
                if not has_root:
                    continue
                shape[i] = eval(kind, {"n": n})
            elif "min=3" in kind and not 3 <= shape[i] <= 9:
                continue
            if kind:
                declared[i] = kind
        if not declared:
            declared[0] = "Dim.AUTO"
        shapes.append(tuple(shape))
        dims.append(declared)
    import math

    scope: dict[str, Any] = {"ts": ts, "F": ts.nn.functional, "math": math}
    writing = _Writing(draw, scope)
    for k in range(len(shapes)):
        scope["xy"[k]] = argument(shapes[k], k)
        writing.tensors.append("xy"[k])
    writing.numbers.append("n0")
    first = f"n0 = x.shape[{min(dims[0])}]"
    exec(first, scope)
    writing.lines.append(first)
    for _ in range(draw(st.integers(1, 6))):
        writing.line()
    # unused values would be removed and their errors not raised
    results = [*writing.tensors, *writing.numbers]
    writing.lines.append(f"return {', '.join(results)}")
    return Random(writing.lines, shapes, dims, [draw(_sizes(shapes, dims)) for _ in range(8)])


@st.composite
def _sizes(draw: Any, shapes: list[tuple[int, ...]], dims: list[dict[int, str]]) -> list[tuple[int, ...]]:
    """Return sizes for a call, which usually satisfy the dynamic size specifications."""
    n, m = draw(st.sampled_from(SIZES)), draw(st.sampled_from(SIZES))
    found = []
    equal: dict[int, int] = {}  # sizes equal in the example usually stay equal
    for shape, declared in zip(shapes, dims, strict=True):
        sizes = list(shape)
        for i in range(len(shape)):
            text = declared.get(i)
            if text is None:
                if draw(st.integers(0, 30)) == 0:
                    sizes[i] = draw(st.sampled_from(SIZES))
            elif text.startswith("Dim('"):
                sizes[i] = n if text[5] == "n" else m
            elif "Dim" in text:
                sizes[i] = (
                    equal.setdefault(shape[i], draw(st.sampled_from(SIZES)))
                    if draw(st.integers(0, 3))
                    else draw(st.sampled_from(SIZES))
                )
            else:
                sizes[i] = max(eval(text, {"n": n}), 0)
            if draw(st.integers(0, 40)) == 0:
                sizes[i] += 1
        found.append(tuple(sizes))
    return found
