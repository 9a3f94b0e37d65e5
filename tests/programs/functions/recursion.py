"""A recursive function with a return annotation."""


def fact(n: int) -> int:
    return 1 if n <= 1 else n * fact(n - 1)


def main():
    print(fact(10))  # expect: 3628800

# not in PyTorch
