"""A type comment below the signature."""
# rule: annotation.mypy

import ts as torch


def f(a, b):
    # type: (torch.Tensor, int) -> torch.Tensor
    return a + b


m = torch.jit.script(f)
print("TorchScript:", m(torch.ones([6]), 100))  # expect: TorchScript: tensor([101., 101., 101., 101., 101., 101.])
