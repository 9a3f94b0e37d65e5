"""A scripted class, instantiated in Python and in a script."""
# rule: class

import ts as torch


@torch.jit.script
class MyClass:
    def __init__(self, x: int):
        self.x = x

    def inc(self, val: int):
        self.x += val


@torch.jit.script
def total(n: int) -> int:
    counter = MyClass(10)
    for i in range(n):
        counter.inc(i)
    return counter.x


print(total(4))  # expect: 16
mine = MyClass(3)
mine.inc(4)
print(mine.x)  # expect: 7
