"""A function defined inside another function, with its free variables as constants."""


def make(step: int):
    def advance(x: int) -> int:
        return x + step

    return advance


advance = make(5)
LIMIT = 20


def main():
    x = 0
    while x < LIMIT:
        x = advance(x)
    print(x)  # expect: 20

# not in PyTorch
