"""A division by zero raises an error, although the quotient is unused."""


def quotient(a: int, b: int) -> int:
    a // b  # expect runtime error: division
    return a


def main():
    quotient(1, 0)
# not in PyTorch: it removes unused expressions together with their errors
