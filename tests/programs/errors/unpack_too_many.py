"""Unpacking of a tuple into the wrong number of names."""


def main():
    a, b = (1, 2, 3)  # expect error: too many values to unpack: need 2 but found 3
    return a + b
