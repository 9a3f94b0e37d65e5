"""A variable that is defined on some paths only is rejected."""
# rule: variables.defined

import ts as torch


@torch.jit.script
def foo(x):
    if x < 0:
        y = 4
    print(y)  # expect error: y is not defined in the false branch
