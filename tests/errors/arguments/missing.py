"""A required argument is missing."""


def main(x: int, y: int):
    return x


# call: main(1)

# error: RuntimeError
# main() is missing value for argument 'y'. Declaration: main(int x, int y) -> int
