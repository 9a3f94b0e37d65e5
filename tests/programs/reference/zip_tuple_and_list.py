"""zip of a tuple and a list: the one is unrolled, the other has no static length."""
# rule: zip.mixed

import ts as torch


@torch.jit.script
def fn():
    a = (1, 2)
    b = [2, 3, 4]
    for x, y in zip(a, b):  # expect error: does not have a statically determinable length
        print(x, y)
