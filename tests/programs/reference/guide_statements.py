"""The statements of the language, one by one."""
# rule: statements.assignment, starred, if, while

import ts as torch


@torch.jit.script
def assignments(a: int, b: int):
    a = b
    a += b
    a -= 1
    pair = (1, 2)
    c, d = pair
    e, f, *g = (1, 2, 3, 4)
    print("the result of an add:", a + b, c, d, e, f, g)


@torch.jit.script
def choose(a: int) -> int:
    if a < 4:
        r = -a
    elif a < 3:
        r = a + a
    else:
        r = 3 * a
    return r


@torch.jit.script
def loops() -> int:
    a = 0
    while a < 4:
        a += 1
    x = 1
    for i in range(3):
        x *= i + a
    return x


assignments(1, 2)  # expect: the result of an add: 5 1 2 1 2 (3, 4)
print(choose(1), choose(5))  # expect: -1 15
print(loops())  # expect: 120
