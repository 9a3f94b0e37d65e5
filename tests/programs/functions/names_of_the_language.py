"""Variables named like words of printed source: renamed exactly if PyTorch renames them, and parsed again."""

from typing import List

import ts


@ts.jit.script
def total(torch: ts.Tensor, print: int, list: List[int], str: int, annotate: int, self: int, fork: int, nan: int):
    isinstance = ts.ones(2) + torch
    for range in list:
        isinstance = isinstance + range
    int = [float(print), 1.0]
    return isinstance.sum() + torch.sum(), str + annotate + self, fork + nan, int


print(total(ts.ones(2), 2, [3, 4], 5, 6, 7, 8, 9))  # expect: (tensor(20.), 18, 17, [2.0, 1.0])
print(total.code.partition(" ->")[0])
# expect: def total(torch: Tensor,
# expect:     print: int,
# expect:     list: List[int],
# expect:     str: int,
# expect:     annotate: int,
# expect:     self: int,
# expect:     fork0: int,
# expect:     nan0: int)
