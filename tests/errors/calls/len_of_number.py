"""The length of a number."""


def main(x: int):
    return len(x)

# error: RuntimeError
# main() is missing value for argument 'x'. Declaration: main(int x) -> int
