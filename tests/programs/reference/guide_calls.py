"""A scripted function calls another function."""
# rule: resolve.python

import ts as torch


def foo(x):
    return x + 1


@torch.jit.script
def bar(x):
    return foo(x)


print(bar(torch.zeros(2)))  # expect: tensor([1., 1.])
