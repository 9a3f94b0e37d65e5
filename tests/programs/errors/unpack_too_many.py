"""Unpacking a tuple into the wrong number of names."""


def main():
    a, b = (1, 2, 3)  # expect error: need 2 values to unpack but found 3
    return a + b
