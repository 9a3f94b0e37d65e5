"""A global list is not a constant, because all calls would share it."""

NAMES = ["a"]


def main():
    return NAMES  # expect error: python value of type 'list' cannot be used as a value
