"""A generator function with `yield`."""


def main(x: int):
    yield x

# error: UnsupportedNodeError
# Yield aren't supported; append to a list and return it:
#   File "generator.py", line 5
# def main(x: int):
#     yield x
#     ~ <--- HERE
