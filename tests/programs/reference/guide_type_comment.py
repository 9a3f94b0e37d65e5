"""A type comment with a tuple type."""
# rule: annotation.mypy

import ts as torch


@torch.jit.script
def foo(x, tup):
    # type: (int, Tuple[Tensor, Tensor]) -> Tensor
    t0, t1 = tup
    return t0 + t1 + x


print(foo(3, (torch.ones(3), torch.ones(3))))  # expect: tensor([5., 5., 5.])
