"""Defaults and keywords of called functions."""
# rule: calls


def f(a: int, b: int = 10, c: float = 0.5) -> float:
    return a + b * c


def main():
    print(f(1), f(1, 2), f(1, c=2.0), f(b=1, a=1))  # expect: 6. 2. 21. 1.5 (python: 6.0 2.0 21.0 1.5)
