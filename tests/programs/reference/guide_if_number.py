"""Floats, ints and tensors are cast to bool in a condition."""
# rule: if.tensor

import ts as torch


@torch.jit.script
def truth(a: int, b: float, c) -> int:
    n = 0
    if a:
        n += 1
    if b:
        n += 10
    if c:
        n += 100
    return n


print(truth(1, 0.0, torch.ones(1)), truth(0, 0.5, torch.zeros(1)))  # expect: 101 10
