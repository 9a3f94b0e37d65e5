"""A keyword that the function does not have."""


def main(x: int):
    return x


# call: main(1, y=2)

# error: RuntimeError
# main() expected at most 1 argument(s) but received 2 argument(s). Declaration: main(int x) -> int
