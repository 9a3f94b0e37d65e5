"""A local name before it has a value."""


def main():
    a = b + 1  # expect error: undefined value b
    b = 2
    return a
