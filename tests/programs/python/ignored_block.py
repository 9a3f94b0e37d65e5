"""`ignore_context_manager`: a block that runs in Python, between compiled statements."""
# not in PyTorch: it compiles the ignored block in such a file.

import ts


def count(a: int) -> int:
    b: int = 5
    c: int = 0
    with ts.jit.ignore_context_manager(a="inp:int", b="inp:int", c="out:int", d="out:str"):
        found = {i for i in range(a) if i > 2}
        c = len(found) + b
        d = f"{c:03d}"
    return c + len(d)


def silent(a: int) -> int:
    with ts.jit.ignore_context_manager(a="inp:int"):
        print("python", a)
    return a + 1


def main():
    print(count(5))  # expect: 10
    print(silent(3))  # expect: python 3
    # expect: 4
