"""All outputs of a function as a tuple, or one by one."""
# rule: unpacking

import ts as torch


@torch.jit.script
def func():
    return 1, 2.5


@torch.jit.script
def fn():
    abc = func()
    a, b = func()
    print(abc, a, b)


fn()  # expect: (1, 2.5) 1 2.5
