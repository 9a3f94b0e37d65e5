"""`zip` of a tuple, which is unrolled, and a list, which has no static length, is rejected."""
# rule: zip.mixed

import ts as torch


@torch.jit.script
def fn():
    a = (1, 2)
    b = [2, 3, 4]
    for x, y in zip(a, b):  # expect error: does not have a statically determinable length
        print(x, y)
