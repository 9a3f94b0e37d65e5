"""Signatures in type comments."""
# rule: annotation.mypy


def f(x, y):
    # type: (int, str) -> str
    return y + str(x)


def g(
    x,  # type: int
    y,  # type: float
):
    # type: (...) -> float
    return x + y


def main():
    print(f(2, "ab"), g(1, 0.5))  # expect: ab2 1.5
