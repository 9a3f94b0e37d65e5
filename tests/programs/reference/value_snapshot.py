"""A variable of a Python module is compiled as a constant with its current value."""
# rule: resolve.snapshot, graph

import math

import ts as torch


@torch.jit.script
def area(r: float) -> float:
    return math.pi * r * r


print(area(2.0))  # expect: 12.566370614359172
print("3.14159" in str(area.graph))  # expect: True
