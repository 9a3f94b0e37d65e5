"""Operator calls, scripted in a loop and eager, on tensors of 1, 100 and 10,000 elements.

`EXPRESSIONS` has the expressions by family; x and y are float tensors of n elements, and `_arguments` makes
the other variables.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from functools import partial
from typing import Any, List

import numpy as np

import ts
from benchmarks import peer_runtimes
from benchmarks.timing import Case

TITLE = "Operators (per call; scripted in a loop, and eager)"
SIZES = (1, 100, 10_000)
STEPS = 50  # number of iterations in one call of the loop

# Expressions by family; m, m2 are matrices of n elements, i, j index tensors, o the offset of a bag,
# t the classes of rows, b a bool tensor.
EXPRESSIONS = {
    "reduce": (
        "x.sum()", "m.sum(1)", "m.sum(0)", "m.sum([0, 1])", "x.mean()", "m.mean(-1)", "m.mean(0)",
        "x.max()", "x.min()", "m.max(1)", "m.min(0)", "x.argmax()", "m.argmax(1)", "m.amax(1)", "b.any()",
        "b.all()", "mb.any(1)", "x.var()", "m.std(1)", "x.prod()", "x.norm()", "m.norm(2, 1)",
        "torch.logsumexp(m, 1)", "x.cumsum(0)", "m.cumsum(1)", "m.cumsum(0)", "m.cumprod(1)", "k.sum()",
        "torch.count_nonzero(x)",
    ),
    "rows": (
        "torch.softmax(x, 0)", "torch.softmax(m, -1)", "torch.softmax(m, 0)", "torch.log_softmax(m, -1)",
        "torch.layer_norm(m, [m.size(1)], w, w2)", "torch.layer_norm(m, [m.size(1)])",
        "torch.group_norm(m3, 1)", "torch.batch_norm(m, w, w2, w, w2, False, 0.1, 1e-5, False)",
        "torch.native_batch_norm(m, w, w2, None, None, True, 0.1, 1e-5)[0]",
        "torch.nn.functional.softmax(m, dim=-1)", "torch.dropout(x, 0.5, False)",
    ),
    "loss": (
        "torch.nn.functional.mse_loss(x, y)", "torch.nn.functional.smooth_l1_loss(x, y)",
        "torch.nn.functional.binary_cross_entropy_with_logits(x, y)",
        "torch.nn.functional.kl_div(x, y, reduction='sum')", "torch.nn.functional.cross_entropy(m, t)",
        "torch.nn.functional.cross_entropy(m, t, label_smoothing=0.1)",
    ),
    "gather": (
        "torch.cat([x, y])", "torch.cat([m, m2], 1)", "torch.stack([x, y])", "torch.stack([x, y], 1)",
        "torch.index_select(x, 0, i)", "torch.index_select(m, 0, j)", "torch.index_select(m, 1, jc)",
        "torch.gather(x, 0, i)", "torch.gather(m, 1, g)", "torch.embedding(m, j)", "torch.where(b, x, y)",
        "torch.embedding_bag(m, j, o)[0]", "torch.embedding_bag(m, j, o, False, 2)[0]",
        "x.masked_fill(b, 0.5)", "x[i]", "x[b]", "m[j, jc0]", "torch.masked_select(x, b)",
        "torch.nonzero(b)", "torch.take(x, i)", "x.flip(0)", "x.roll(1)", "m.tril()",
        "torch.scatter(x, 0, i, y)", "torch.index_add(x, 0, i, y)", "x.repeat(2)", "torch.sort(x)[0]",
        "torch.topk(x, 1)[0]",
    ),
    "view": (
        "x[0]", "m[0, 0]", "m[0]", "x[0:1]", "m[:, 0]", "x[::2]", "m.t()", "m.transpose(0, 1)",
        "x.view(-1)", "x.view(1, -1)", "x.reshape(-1, 1)", "m.permute(1, 0)", "x.unsqueeze(0)",
        "x.expand(2, -1)", "x.squeeze()", "x.flatten()", "m.flatten(0, 1)", "x.chunk(2)", "x.split(s)",
        "m.unbind(0)[0]", "x.narrow(0, 0, 1)", "x[None]", "x[..., 0]", "x.detach()", "x.view_as(y)",
        "m.transpose(0, 1).contiguous()", "x.contiguous()", "x.clone()",
    ),
    "pointwise": (
        "x + y", "x * 2.0", "x + 1", "1.0 - x", "x / y", "-x", "x.abs()", "torch.add(x, y)",
        "torch.add(x, y, alpha=2)", "torch.relu(x)", "torch.sigmoid(x)", "torch.tanh(x)", "torch.exp(x)",
        "torch.sqrt(x)", "torch.nn.functional.gelu(x)", "torch.nn.functional.silu(x)",
        "torch.nn.functional.leaky_relu(x, 0.1)", "x.clamp(0.0, 1.0)", "x.clamp(min=0.0)", "x > y",
        "x == 0.5", "x < 1", "torch.maximum(x, y)", "x ** 2", "x ** 2.0", "torch.pow(x, y)",
        "torch.lerp(x, y, 0.5)", "torch.addcmul(x, x, y)", "b & b", "~b", "k + 1", "k % 3", "k // 2",
        "x.floor()", "torch.isnan(x)", "m + w", "m * c", "k * x", "x.add_(0.0)", "x.mul_(1.0)", "x.zero_()",
        "x.fill_(0.5)", "x.copy_(y)",
    ),
    "create": (
        "torch.zeros(s)", "torch.zeros([s])", "torch.ones(s, s2)", "torch.full([s], 0.5)", "torch.empty(s)",
        "torch.arange(s)", "torch.zeros_like(x)", "torch.ones_like(x)", "torch.full_like(x, 0.5)",
        "torch.empty_like(x)", "torch.tensor([z, 2.0, 3.0])", "torch.tensor(z)",
        "torch.linspace(0.0, 1.0, s)", "torch.eye(s2)", "x.new_zeros(s)", "torch.rand(s)", "torch.randn(s)",
    ),
    "convert": (
        "x.to(torch.float64)", "x.double()", "x.to(torch.int64)", "k.to(torch.float32)",
        "x.to(torch.float32)", "b.to(torch.float32)", "x.half()", "float(x[0])", "x.size(0)", "x.dim()",
        "x.numel()", "x.shape",
    ),
    "linear": (
        "a @ a", "torch.mm(a, a)", "torch.bmm(a3, a3)", "torch.mv(a, v)", "torch.dot(v, v)",
        "torch.nn.functional.linear(a, a, v)", "torch.addmm(a, a, a)", "torch.outer(v, v)",
        "torch.einsum('ij,jk->ik', [a, a])",
    ),
}  # fmt: skip


def _arguments(n: int) -> dict[str, Any]:
    """Return the variables of expressions as NumPy arrays and ints, equal for all contestants."""
    random = np.random.default_rng(0)
    rows = math.isqrt(n)
    square = (rows, n // rows)
    x, y = (random.random(n, dtype=np.float32) + 0.5 for _ in range(2))
    matrix = {"m": x.reshape(square), "m2": y.reshape(square), "m3": x.reshape(1, *square)}
    side = np.float32(random.random((4, 4)))
    return {
        "x": x, "y": y, **matrix, "w": y[: square[1]].copy(), "w2": x[: square[1]].copy(),
        "c": y[: square[0]].reshape(-1, 1).copy(), "b": x > 1, "mb": matrix["m"] > 1,
        "i": random.permutation(n), "j": random.permutation(square[0]), "jc": random.permutation(square[1]),
        "jc0": np.zeros(square[0], np.int64), "o": np.zeros(1, np.int64),
        "g": random.integers(0, square[1], square), "t": random.integers(0, square[1], square[0]),
        "k": random.integers(0, 100, n), "a": side, "a3": side.reshape(1, 4, 4), "v": side[0].copy(),
        "s": n, "s2": 2, "z": 1.5,
    }  # fmt: skip


def _names(expression: str, values: dict[str, Any]) -> list[str]:
    code = compile(expression, "<operator>", "eval")
    return [name for name in values if name in code.co_names]


def _function(lib: Any, expression: str, arguments: dict[str, Any], scripted: bool) -> Callable[[], Any]:
    """Return a function that evaluates the expression STEPS times."""
    values = {
        name: lib.from_numpy(v.copy()) if isinstance(v, np.ndarray) else v for name, v in arguments.items()
    }
    first = eval(expression, {"torch": lib} | values)
    values["result"] = list(first) if isinstance(first, tuple) else first
    typed = ", ".join(f"{name}: {_format_type(value)}" for name, value in values.items())
    # A `while` loop, because PyTorch would unroll a `for` loop and compute equal iterations only once.
    source = (
        f"def f({typed}):\n    step = 0\n    while step < {STEPS}:\n        result = {expression}\n"
        "        step += 1\n    return result\n"
    )
    file = f"<{lib.__name__}: {expression}>"
    linecache.cache[file] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        file,
    )  # the compilers read the source from this file
    scope: dict[str, Any] = {"torch": lib, "List": List, "__name__": __name__}
    exec(compile(source, file, "exec"), scope)
    return partial(lib.jit.script(scope["f"]) if scripted else scope["f"], *values.values())


def _format_type(value: Any) -> str:
    if isinstance(value, list):
        return f"List[{_format_type(value[0])}]"
    return type(value).__name__ if isinstance(value, (int, float)) else "torch.Tensor"


def cases() -> list[Case]:
    """Return a case per expression and size, scripted and eager."""
    libraries: dict[str, Any] = {"ts": ts}
    if peer_runtimes.has_torch():
        import torch

        torch.set_num_threads(1)
        libraries["PyTorch"] = torch
    found = []
    for family, expressions in EXPRESSIONS.items():
        for expression in expressions:
            for n in SIZES[:1] if family == "linear" else SIZES:
                values = _arguments(n)
                arguments = {name: values[name] for name in _names(expression, values)}
                for mode in ("script", "eager"):
                    runs = {
                        peer: _function(lib, expression, arguments, mode == "script")
                        for peer, lib in libraries.items()
                    }
                    name = f"{mode} `{expression}`"
                    found.append(
                        Case(name, runs, per_call=STEPS, min_seconds=0.002, note=f"{n:,}", family=family)
                    )
    return found
