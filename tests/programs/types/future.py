"""`Future` as an annotation."""
# rule: future, fork

from typing import List

import ts as torch


def square(x: int) -> int:
    return x * x


@torch.jit.script
def fn(n: int) -> int:
    futures: List[torch.jit.Future[int]] = []
    for i in range(n):
        futures.append(torch.jit.fork(square, i))
    total = 0
    for future in futures:
        total += torch.jit.wait(future)
    return total


print(fn(5))  # expect: 30
