"""A division that fails, though its result is not useds result."""


def quotient(a: int, b: int) -> int:
    a // b  # expect runtime error: division
    return a


def main():
    quotient(1, 0)
# not in PyTorch: it drops what nobody reads, and the failure with it
