"""`raise` with a message."""
# rule: statements.raise


def check(n: int) -> int:
    if n > 2:
        raise ValueError("too large: " + str(n))  # expect runtime error: too large: 3
    return n


def main():
    print(check(1))  # expect: 1
    print(check(3))
