"""A tensor with several elements has no truth value."""
# rule: if.ambiguous

import ts as torch


@torch.jit.script
def fn():
    if torch.rand(2):  # expect error: Boolean value of Tensor with more than one value is ambiguous
        print("Tensor is available")
    if torch.rand(4, 5, 6):
        print("Tensor is available")


print(fn())
