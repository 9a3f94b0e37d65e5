"""A list around the function would be shared by all calls."""

NAMES = ["a"]


def main():
    return NAMES  # expect error: python value of type 'list' cannot be used as a value
