"""Traced functions: new inputs, other shapes, nested inputs and outputs, calls between traces and scripts."""

from typing import Dict, List, Tuple

import ts

nn = ts.nn


def scale(x, y):
    z = x * 2 + y
    z += 1
    return z.view(x.size(0), -1), x.shape[1] * ts.ones(x.shape[0])


traced = ts.jit.trace(scale, (ts.zeros(2, 3), ts.zeros(2, 3)))
flat, counts = traced(ts.ones(4, 2), ts.ones(4, 2))
print(flat.tolist())  # expect: [[4.0, 4.0], [4.0, 4.0], [4.0, 4.0], [4.0, 4.0]]
print(counts.tolist())  # expect: [2.0, 2.0, 2.0, 2.0]


def structures(pair, table, items):
    return (pair[0] + table["a"], (items[1],)), pair[1] * table["b"]


one, two, three = ts.tensor([1.0]), ts.tensor([2.0]), ts.tensor([3.0])
traced = ts.jit.trace(structures, ((one, one), {"a": one, "b": one}, [one, one]))
(first, second), third = traced((one, two), {"a": two, "b": three}, [one, three])
print(first.item(), second[0].item(), third.item())  # expect: 3.0 3.0 6.0


def in_place(x):
    y = x[:, 1:]
    y[0] = 7.0
    y.add_(x[:, :1])
    x[x > 100] = 0.0
    return x


traced = ts.jit.trace(in_place, ts.zeros(2, 3))
print(traced(ts.tensor([[1.0, 2.0], [300.0, 4.0]])).tolist())  # expect: [[1.0, 8.0], [0.0, 0.0]]


def numbers(x):
    return (x * 2).dtype == x.dtype, x * 2, 1 - x, 2.5 * x


traced = ts.jit.trace(lambda x: (x * 2, 1 - x, 2.5 * x), ts.tensor(1, dtype=ts.int32))
for result in traced(ts.tensor(3, dtype=ts.int32)):
    print(result.dtype, result.item())
# expect: torch.int32 6
# expect: torch.int32 -2
# expect: torch.float32 7.5


def accumulate(x):
    total = ts.zeros(1)
    start = ts.full((1,), 2.0)
    for row in x:
        total += row.sum()
    return total + start


traced = ts.jit.trace(accumulate, ts.ones(2, 2))
print(traced(ts.ones(2, 5)).item(), traced(ts.ones(2, 5)).item())  # expect: 12.0 12.0


@ts.jit.script
def branch(x, n: int) -> List[ts.Tensor]:
    if bool(x.sum() > 0):
        return [x, x + n]
    return [x, x - n]


def calls_script(x):
    return branch(x * 2, 3)[1]


traced = ts.jit.trace(calls_script, ts.ones(1))
print(traced(ts.ones(1)).item(), traced(-ts.ones(1)).item())  # expect: 5.0 -5.0


@ts.jit.script
def calls_traced(x) -> Tuple[ts.Tensor, Dict[str, ts.Tensor]]:
    return traced(x), {"again": traced(x)}


print(calls_traced(-ts.ones(1))[1]["again"].item())  # expect: -5.0


def forked(x):
    later = ts.jit.fork(lambda a, b: (a + b, a * b), x, x + 1)
    total, product = ts.jit.wait(later)
    return total - product


traced = ts.jit.trace(forked, ts.ones(1))
print(traced(ts.tensor([3.0])).item())  # expect: -5.0


@ts.jit.script_if_tracing
def size_dependent(x):
    if x.size(0) > 2:
        return x.sum()
    return x.max()


traced = ts.jit.trace(lambda x: size_dependent(x) * 1, ts.ones(2))
print(traced(ts.tensor([1.0, 5.0])).item(), traced(ts.tensor([1.0, 5.0, 3.0])).item())  # expect: 5.0 9.0
print(ts.jit.is_tracing())  # expect: False
print(ts.jit.trace(lambda x: x + int(ts.jit.is_tracing()), ts.ones(1))(ts.ones(1)).item())  # expect: 2.0
