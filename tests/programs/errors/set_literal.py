"""The error for a set literal names the construct."""


def main():
    x = {1, 2}  # expect error: Set aren't supported; use the keys of a dict
    return 1
