"""Row operators written by hand, such as a softmax, and the library calls that compute the same values."""

from __future__ import annotations

from functools import partial
from typing import Any

import ts
from benchmarks.timing import Case

TITLE = "Row operators written by hand, 512 x 1024 float32, one thread"
SHAPE = (512, 1024)
BODIES = {
    "softmax": (
        "e = torch.exp(x - x.amax(-1, keepdim=True)); return e / e.sum(-1, keepdim=True)",
        "return torch.softmax(x, -1)",
    ),
    "layer norm": (
        "d = x - x.mean(-1, keepdim=True); "
        "return d / torch.sqrt((d * d).mean(-1, keepdim=True) + 1e-5) * w + b",
        "return torch.layer_norm(x, [x.size(-1)], w, b)",
    ),
    "layer norm of softmax": (
        "e = torch.exp(x - x.amax(-1, keepdim=True)); y = e / e.sum(-1, keepdim=True); "
        "v = y.var(-1, keepdim=True, unbiased=False); "
        "return (y - y.mean(-1, keepdim=True)) * torch.rsqrt(v + 1e-5) * w + b",
        "return torch.layer_norm(torch.softmax(x, -1), [x.size(-1)], w, b)",
    ),
    "RMS norm": (
        "return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w",
        "return torch.rms_norm(x, [x.size(-1)], w, 1e-6)",
    ),
    "log-sum-exp": (
        "m = x.amax(-1, keepdim=True); return m + torch.exp(x - m).sum(-1, keepdim=True).log()",
        "return torch.logsumexp(x, [-1], True)",
    ),
    "variance": (
        "d = x - x.mean(-1, keepdim=True); return (d * d).mean(-1)",
        "return torch.var(x, [-1], False)",
    ),
    "mean of the variances": (
        "d = x - x.mean(-1, keepdim=True); return (d * d).mean()",
        "return torch.var(x, [-1], False).mean()",
    ),
}


def function(body: str) -> Any:
    """Return a scripted function of a matrix and two vectors."""
    lines = "\n".join(f"    {line}" for line in body.split("; "))
    return ts.jit.CompilationUnit(f"def f(x: Tensor, w: Tensor, b: Tensor) -> Tensor:\n{lines}\n").f


def cases() -> list[Case]:
    """Return one case per row operator."""
    arguments = ts.randn(SHAPE), ts.randn(SHAPE[1]), ts.randn(SHAPE[1])
    columns = ("ts", "library call")
    return [
        Case(name, {c: partial(function(body), *arguments) for c, body in zip(columns, bodies, strict=True)})
        for name, bodies in BODIES.items()
    ]
