"""A class with a method that changes an attribute."""
# rule: class, class.default_types

import ts as torch


@torch.jit.script
class Foo:
    def __init__(self, x, y):
        self.x = x

    def aug_add_x(self, inc):
        self.x += inc


@torch.jit.script
def fn(x):
    foo = Foo(x, x)
    foo.aug_add_x(x)
    return foo.x


print(fn(torch.ones(2)))  # expect: tensor([2., 2.])
