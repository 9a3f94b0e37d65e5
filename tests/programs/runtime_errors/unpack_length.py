"""Unpacking a list of another length."""


def main():
    xs = [1, 2]
    xs.append(3)
    a, b = xs  # expect runtime error: 2
    print(a, b)
