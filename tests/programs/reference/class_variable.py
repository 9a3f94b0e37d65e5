"""Class variables are not attributes of script objects."""
# rule: class.variables

import ts as torch


@torch.jit.script
class MyClass(object):
    name = "MyClass"

    def __init__(self, x: int):
        self.x = x


@torch.jit.script
def fn(a: MyClass):
    return a.name  # expect error: object has no attribute or method 'name'. 'name' is defined as a class attribute
