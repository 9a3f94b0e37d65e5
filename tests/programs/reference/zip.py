"""`zip` of lists with different lengths and different element types."""
# rule: zip, builtin.zip

import ts as torch


@torch.jit.script
def lengths():
    a = [1, 2]
    b = [2, 3, 4]
    for x, y in zip(a, b):
        print(x, y)


@torch.jit.script
def types():
    a = [1.5, 2.5]
    b = [2, 3, 4]
    for x, y in zip(a, b):
        print(x, y)


# expect: 1 2
# expect: 2 3
lengths()
# expect: 1.5 2
# expect: 2.5 3
types()
