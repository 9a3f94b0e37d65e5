"""A variable has one type on all paths."""
# rule: types.one

import ts as torch


@torch.jit.script
def an_error(x):
    if x:
        r = torch.rand(1)
    else:
        r = 4
    return r  # expect error: Type mismatch: r is set to type Tensor in the true branch and type int in the false branch
