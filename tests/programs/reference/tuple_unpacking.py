"""The results of a function as one tuple, or unpacked."""
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
