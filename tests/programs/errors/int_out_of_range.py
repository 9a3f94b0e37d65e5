"""An int constant of more than 64 bits."""


def main():
    return 9999999999999999999999  # expect error: Integral constant out of range
