"""A tensor with one element is converted to bool in a condition."""
# rule: if.tensor

import ts as torch


@torch.jit.script
def fn(x: torch.Tensor):
    if x:  # The tensor gets promoted to bool
        return True
    return False


print(fn(torch.rand(1)))  # expect: True
