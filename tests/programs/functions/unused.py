"""A function marked as unused is not compiled; a call raises an error."""
# rule: unused

import ts as torch


@torch.jit.unused
def later(x: int) -> int:
    return {x: 1}.popitem()[0]


@torch.jit.script
def fn(x: int) -> int:
    if x > 0:
        return later(x)
    return 0


print(fn(0))  # expect: 0
try:
    fn(1)
except torch.jit.Error as error:
    print("raised")  # expect: raised
