"""`sorted` of a number."""


def main(x: int):
    return sorted(x)

# error: RuntimeError
# main() is missing value for argument 'x'. Declaration: main(int x) -> int[]
