"""Unpacking a list into names."""


def main():
    xs = [4, 5]
    a, b = xs
    print(a, b)  # expect: 4 5
