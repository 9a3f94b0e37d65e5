"""A class is used in Python and in script."""
# rule: class.interchange

import ts as torch


@torch.jit.script
class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second


@torch.jit.script
def sum_pair(p):
    # type: (Pair) -> Tensor
    return p.first + p.second


p = Pair(torch.ones(2, 3), torch.ones(2, 3))
print(sum_pair(p))
# expect: tensor([[2., 2., 2.],
# expect:         [2., 2., 2.]])
