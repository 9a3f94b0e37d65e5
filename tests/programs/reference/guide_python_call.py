"""A scripted function calls back to Python."""
# rule: resolve.callback, ignore

import ts as torch


@torch.jit.ignore
def foo(x):
    print("I am called with {}".format(x))
    return x


@torch.jit.script
def bar(x):
    return foo(x + 1)


print(bar(torch.zeros(1)))
# expect: I am called with tensor([1.])
# expect: tensor([1.])
