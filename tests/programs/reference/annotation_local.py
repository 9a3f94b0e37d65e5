"""A local variable is annotated with a wider type than its first value."""
# rule: annotation.local

from typing import Optional

import ts as torch


def f(a, setVal: bool):
    value: Optional[torch.Tensor] = None
    if setVal:
        value = a
    return value


ones = torch.ones([6])
m = torch.jit.script(f)
print("TorchScript:", m(ones, True), m(ones, False))  # expect: TorchScript: tensor([1., 1., 1., 1., 1., 1.]) None
