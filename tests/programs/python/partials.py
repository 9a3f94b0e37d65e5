"""`functools.partial` objects are called in Python, also those with keyword arguments."""
# not in PyTorch: it raises an internal assertion for functions with annotations.

from functools import partial

import ts


def repeated(text: str, times: int = 2, end: str = "") -> str:
    return text * times + end


thrice = partial(repeated, times=3)
ab = partial(repeated, "ab", end="!")
total = partial(ts.sum, dim=0)


@ts.jit.script
def ending(text: str):
    return thrice(text), thrice(text, end="."), thrice(text, times=1)


@ts.jit.script
def ending_so():
    return ab(), ab(times=1)


@ts.jit.script
def of_tensor(x: ts.Tensor):
    return total(x)


print(ending("x"))  # expect: ('xxx', 'xxx.', 'x')
print(ending_so())  # expect: ('abab!', 'ab!')
print(of_tensor(ts.ones(2, 3)))  # expect: tensor([2., 2., 2.])
