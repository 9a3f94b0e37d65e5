"""A library function that wraps an operator is compiled to the operator."""
# rule: resolve.operator

import ts as torch
from ts.nn import functional as F


@torch.jit.script
def fn(x):
    return F.relu(x) + torch.add(x, x)


print(fn(torch.ones(2)))  # expect: tensor([3., 3.])
print("aten::relu" in str(fn.inlined_graph))  # expect: True
