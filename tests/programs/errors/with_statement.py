"""The context manager of a `with` statement must be an object with `__enter__` and `__exit__`."""


def main():
    with 3 as n:  # expect error: With item expression must return an object
        x = 1
    return x
