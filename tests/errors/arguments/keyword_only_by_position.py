"""A keyword-only parameter is passed by position."""

import ts

# call: main(3)


def main(*, n: int) -> int:
    return n

# error: RuntimeError
# main() takes 0 positional argument(s) but 1 was/were given.  Declaration: main(*, int n) -> int
