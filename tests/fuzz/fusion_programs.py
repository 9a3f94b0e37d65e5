"""Random programs for fusion: pointwise operators, views of their inputs and row operators on their results,
and tensors of all kinds as arguments.

Input: `choose(n)`, a source of choices 0 .. n-1.  Output: the source of `f(a, b, c, d, s: float, n: int)`,
which returns a tuple of tensors; sizes, layouts and dtypes for its arguments.

All sizes are 1 or those of one shape, so all operands broadcast.  Discontinuous functions (masks, `floor`)
read arguments only, because other libraries round computed values differently.  Loops compute exact numbers,
so that machine code can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

HEADER = "def f(a: Tensor, b: Tensor, c: Tensor, d: Tensor, s: float, n: int):\n"
GIVEN = ("a", "b", "c", "d")
UNARY = (
    "torch.tanh({x})", "torch.sigmoid({x})", "torch.sin({x})", "torch.relu({x})", "(-{x})", "torch.abs({x})", "torch.cos({x})",
    "torch.nn.functional.silu({x})", "torch.nn.functional.gelu({x})", "torch.clamp({x}, -0.5, 0.7)", "torch.atan({x})",
    "torch.clamp({x}, min=s)", "torch.nn.functional.leaky_relu({x}, 0.1)", "torch.sqrt(torch.abs({x}) + 0.25)",
    "torch.erf({x})", "torch.nn.functional.softplus({x})", "torch.nn.functional.hardtanh({x})", "torch.square({x})",
    "torch.exp(-torch.abs({x}))", "({x} * s)", "({x} * 0.5)", "({x} + n)", "(1 - {x})", "(2 * {x} - 1)", "({x} / 3)",
)  # fmt: skip
BINARY = (
    "({x} + {y})", "({x} - {y})", "({x} * {y})", "({x} * {y})", "({x} + {y})", "torch.maximum({x}, {y})", "torch.minimum({x}, {y})",
    "({x} / (torch.abs({y}) + 1))", "torch.where({m}, {x}, {y})", "{x}.masked_fill({m}, 0.25)", "torch.where({m}, {x}, 1.5)",
    "torch.add({x}, {y}, alpha=1)", "({x} * {y} + {x})", "torch.where({m}, s, {x})",
)  # fmt: skip
CONVERSIONS = (
    "{x}.float()", "{x}.to(torch.float32)", "{x}.double()", "{x}.to({g}.dtype)", "{x}.type_as({g})", "{x}.to({y})", "({m}).float()",
    "(({m}) * {x})", "({x} + ({m}))", "({m}).to({g}.dtype) * {x}", "{g}.to(torch.int64) * {x}", "({g}.int() + {x})", "{x}.float() * {y}",
    "({x} * {y}).to({x}.dtype)", "({m}).type_as({g}) + {x}", "({x} - {g}.long())", "({g}.long() / 2) * {x}", "{x}.float() + {h}.double()",
    "torch.sigmoid({g}.int()) + {x}", "torch.where({m}, {x}.float(), {y}.float())", "{x}.half().float()", "{x}.bfloat16()", "{x}.half()",
)  # fmt: skip
ROWS = (
    "torch.softmax({x}, -1)", "torch.softmax({x} * {y}, -1)", "torch.log_softmax({x} + {y}, -1)", "({x} * {y}).sum(-1, True)",
    "({x} - {y}).mean(-1, True)", "torch.amax({x} + {y}, -1, True)", "torch.softmax({x}, 0)", "({x} * 0.5).sum(0, True)",
    "torch.layer_norm({x} * 2 + {y}, [{x}.size(-1)])", "({x} * {y}).mean()", "torch.logsumexp({x} * s, [-1], True)",
    "torch.square({x}).sum()", "({x} - {y}).abs().max()", "({m}).sum(-1, True)", "({x} + {y}).amin(0, True)",
)  # fmt: skip
VIEWS = (
    "torch.tanh({x}.unsqueeze(0))", "({x}.unsqueeze(0)[..., :1] * {y})", "({x} * {y}.unsqueeze(0)[-1] + {x})",
    "torch.sigmoid({x}.unsqueeze(0).select(0, 0) - {y})", "({x}.unsqueeze(0).narrow(-1, 0, 1) + {g} * 0.5)",
    "({g}.unsqueeze(0).transpose(0, 0) * 2 - {y})", "torch.where({m}, {x}.unsqueeze(0)[0:1], {g}.unsqueeze(0))",
)  # fmt: skip
PARTS = (
    "p, q = torch.stack([{x}, {x} * 0.5]).chunk(2, 0)\n{t} = torch.tanh(p) * q + {y}",
    "p, q = torch.stack([{x}, 1 - {x}]).split(1)\n{t} = torch.sigmoid(p) - q * {y}",
)
LOOPS = (
    "for i in range(n + 2):\n    {u}\n    r = r * u + {v}",
    "for i in range(n + 2):\n    {u}\n    if u < 0.0:\n        r = r + {v}\n    else:\n        r = {w}",
    "e = {g}.flatten()\nfor i in range(min(e.size(0), 9)):\n    {u}\n    u += 0.25 * float(e[i])\nr = r * u",
    "e = torch.ones(9)\nfor i in range(1, 9):\n    {u}\n    e[i] = 0.5 * e[i - 1] + u\nr = r + e[n]",
)
NUMBERS = "u = 0.5 * u + 0.25 * i\n    if u > 1.0:\n        u = u - 2.0"  # exact, independent of the order
MASKS = ("{g} > 0.1", "{g} <= {h}", "({g} < 0) & ({h} > 0)", "torch.logical_not({g} > {h})", "({g} > -1) | ({h} != {g})")


class GroupWriter:
    """Writes a program for the fuser."""

    def __init__(self, choose: Callable[[int], int], statements: int = 9) -> None:
        self.choose = choose
        self.statements = statements
        self.names = list(GIVEN)

    def source(self) -> str:
        lines = ["    u = s"]
        count = 2 + self.choose(self.statements)
        for i in range(count):
            kind = self.choose(16)
            lines += self.loop(i) if kind == 0 else self.parts(i) if kind == 1 else [f"    t{i} = {self.value()}"]
            self.names += [f"t{i}"] * 3
        read = re.findall(r"t\d+(?! =)", " ".join(lines) + " ")
        unread = [f"t{i}" for i in range(count) if f"t{i}" not in read]
        # values without uses would not be computed
        results = dict.fromkeys([*unread, self.pick(self.names[len(GIVEN) :])])
        return HEADER + "\n".join([*lines, f"    return ({', '.join(results)},)"]) + "\n"

    def pick(self, options: Any) -> Any:
        return options[self.choose(len(options))]

    def loop(self, i: int) -> list[str]:
        """Return a loop whose iterations compute numbers and tensors."""
        form = self.pick(LOOPS).format(u=NUMBERS, v=self.value(), w=self.value(), g=self.pick(GIVEN))
        return [f"    {line}" for line in (f"r = {self.pick(self.names)}", *form.splitlines(), f"t{i} = r")]

    def parts(self, i: int) -> list[str]:
        """Return lines that create views read by a group."""
        form = self.pick(PARTS).format(x=self.pick(self.names), y=self.pick(self.names), t=f"t{i}")
        return [f"    {line}" for line in form.splitlines()]

    def value(self) -> str:
        kind = self.choose(14)
        forms = UNARY if kind < 4 else BINARY if kind < 10 else CONVERSIONS if kind < 12 else ROWS if kind < 13 else VIEWS
        g, h = self.pick(GIVEN), self.pick(GIVEN)
        mask = self.pick(MASKS).format(g=g, h=h)
        return self.pick(forms).format(x=self.pick(self.names), y=self.pick(self.names), m=mask, g=g, h=h)


def shape_of(choose: Callable[[int], int], whole: tuple[int, ...]) -> tuple[int, ...]:
    """Return the whole shape or its last dimensions, with some sizes replaced by 1."""
    if choose(2):
        return whole
    return tuple(1 if choose(3) == 0 else length for length in whole[choose(len(whole) + 1) :])


def with_random_layout(choose: Callable[[int], int], x: Any) -> Any:
    """Return an array or slice with equal elements and a random memory layout."""
    kind = choose(6)
    if kind == 0 and x.ndim > 1:
        order = sorted(range(x.ndim), key=lambda d: choose(97))
        return np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    if kind == 1 and x.ndim:
        d = choose(x.ndim)
        wide = np.repeat(x, 2, d)
        return wide[(slice(None),) * d + (slice(None, None, 2),)]
    if kind == 2 and x.ndim:
        d = choose(x.ndim)
        wide = np.concatenate([x, x], d)
        return wide[(slice(None),) * d + (slice(0, x.shape[d]),)]
    if kind == 3 and x.ndim:
        d = choose(x.ndim)
        first = x[(slice(None),) * d + (slice(0, 1),)]
        first = first.copy()
        return np.lib.stride_tricks.as_strided(first, x.shape, [0 if i == d else s for i, s in enumerate(first.strides)])
    return x


WHOLE = ((7,), (33, 5), (3, 700), (2, 6, 5), (2, 3, 4, 5), (5000,), (1, 40), (40, 1), (3, 1, 9), (130, 600), (2, 2, 3, 2, 4))


def arguments(choose: Callable[[int], int], kinds: tuple[str, ...]) -> list[Any]:
    """Return arrays and numbers for a program, mostly of one dtype."""
    whole = WHOLE[choose(len(WHOLE))]
    numbers = np.random.default_rng(choose(1 << 30))
    main = kinds[choose(len(kinds))]
    arrays = []
    for _ in GIVEN:
        shape = shape_of(choose, whole)
        x = np.round(numbers.standard_normal(shape) * 64) / 64
        kind = main if choose(6) else kinds[choose(len(kinds))]
        x = np.asarray(x > 0) if kind == "bool" else np.asarray(x * 4 if "int" in kind else x)
        arrays.append((with_random_layout(choose, x.astype(kind if "float16" not in kind else "float32")), kind))
    return [*arrays, (0.5, 0.0, -1.25, 3.0)[choose(4)], choose(5) - 1]
