"""The program of `docs/reading.md`; `tests/test_docs.py` compares what the page shows of it."""

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
