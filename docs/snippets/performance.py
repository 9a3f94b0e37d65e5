"""What `performance.md` shows."""

# --8<-- [start:steady]
import time

import ts


@ts.jit.script
def smooth(x: ts.Tensor, turns: int):
    for _ in range(turns):
        x = 0.5 * x + 0.25 * (x.roll(1) + x.roll(-1))
    return x


x = ts.rand(10_000)
start = time.perf_counter()
smooth(x, 1)  # compiles
first = time.perf_counter() - start
start = time.perf_counter()
smooth(x, 1)
steady = time.perf_counter() - start
# --8<-- [end:steady]
assert first > 0 and steady > 0

# --8<-- [start:profile]
from ts.profiler import profile

with profile() as prof:
    smooth(x, 20)
print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=5))
# --8<-- [end:profile]
assert "aten::roll" in prof.key_averages().table()

# --8<-- [start:memory]
print(smooth.peak_memory(x, 20))  # bytes in addition to the arguments
# --8<-- [end:memory]
assert smooth.peak_memory(x, 20) > 0


# --8<-- [start:elements]
@ts.jit.script
def relax(a: ts.Tensor, turns: int):
    for _ in range(turns):
        for i in range(1, a.size(0) - 1):
            for j in range(1, a.size(1) - 1):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return a


relax(ts.rand(20, 20), 2)
# --8<-- [end:elements]
