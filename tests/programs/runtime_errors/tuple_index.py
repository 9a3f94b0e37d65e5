"""A computed index of a tuple out of its range."""


def main():
    t = (3, 4, 5)
    i = len("abc" + str(t[0]))
    print(t[i])  # expect runtime error: Tuple list index out of range
