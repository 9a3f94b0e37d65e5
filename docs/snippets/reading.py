"""Functions whose graphs and bytecode docs/explanation explains; `tests/test_docs.py` compares the pages."""

# --8<-- [start:program]
import ts
from ts import Tensor


@ts.jit.script
def weigh(x: Tensor, n: int):
    weight = 0
    for i in range(n):
        if i % 3 != 0:
            weight += i
    y = ts.exp(x * -0.5) + weight
    return y.cumsum(0)


weigh(ts.ones(3), 5)
# --8<-- [end:program]


# --8<-- [start:break]
@ts.jit.script
def first_above(xs: list[float], bound: float):
    found = -1
    for i in range(len(xs)):
        if xs[i] > bound:
            found = i
            break
    return found


# --8<-- [end:break]
assert first_above([1.0, 5.0, 7.0], 2.0) == 1 and first_above([], 2.0) == -1


# --8<-- [start:enumerate]
@ts.jit.script
def weighted(xs: list[int]):
    total = 0
    for i, x in enumerate(xs):
        total += i * x
    return total


# --8<-- [end:enumerate]
assert weighted([5, 6, 7]) == 20


# --8<-- [start:list]
@ts.jit.script
def doubled(xs: list[int]):
    ys = [0]
    for x in xs:
        ys.append(2 * x)
    ys[0] = len(ys)
    return ys


# --8<-- [end:list]
assert doubled([5, 6]) == [3, 10, 12]


# --8<-- [start:dictionary]
@ts.jit.script
def counted(words: list[str]):
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


# --8<-- [end:dictionary]
assert counted(["to", "be", "to"]) == {"to": 2, "be": 1}
