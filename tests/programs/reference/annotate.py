"""`torch.jit.annotate` declares the type of an expression."""
# rule: annotation.annotate

from typing import List

import ts as torch


def g(l: List[int], val: int):
    l.append(val)
    return l


def f(val: int):
    l = g(torch.jit.annotate(List[int], []), val)
    return l


m = torch.jit.script(f)
print("Eager:", f(3))  # expect: Eager: [3]
print("TorchScript:", m(3))  # expect: TorchScript: [3]
