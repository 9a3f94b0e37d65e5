"""A constant that does not fit."""


def main():
    return 9999999999999999999999  # expect error: Integral constant out of range
