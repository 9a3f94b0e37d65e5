"""The primitive types and their printed form."""
# rule: primitive, literals, builtin.print, builtin.complex, builtin.values, statements.print

from typing import Optional


def show(i: int, f: float, c: complex, b: bool, s: str) -> Optional[int]:
    print(i, f, c, b, s, None)
    print(True, False, 0.5, 10, 'single', "double")
    print(complex(1.5, -2.0))
    return None


def main():
    print(show(3, 0.25, 1.5 + 2.5j, True, "text"))
    # expect: 3 0.25 1.5+2.5j True text None  (python: 3 0.25 (1.5+2.5j) True text None)
    # expect: True False 0.5 10 single double
    # expect: 1.5-2.j  (python: (1.5-2j))
    # expect: None
