"""An index out of the range of a list."""


def main():
    xs = [1, 2]
    xs.append(3)
    print(xs[2])  # expect: 3
    print(xs[3])  # expect runtime error: list index out of range
