"""A set is refused by name."""


def main():
    x = {1, 2}  # expect error: Set aren't supported; use the keys of a dict
    return 1
