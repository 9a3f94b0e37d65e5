"""Annotations in the signature; a parameter without one is a Tensor."""
# rule: annotation.python3, annotation.default

import ts as torch


def f(a, b: int):
    return a + b


m = torch.jit.script(f)
print("TorchScript:", m(torch.ones([6]), 100))  # expect: TorchScript: tensor([101., 101., 101., 101., 101., 101.])
print(m.schema)  # expect: f(Tensor a, int b) -> Tensor
