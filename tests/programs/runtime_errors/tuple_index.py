"""A computed index out of the range of a tuple."""


def main():
    t = (3, 4, 5)
    i = len("abc" + str(t[0]))
    print(t[i])  # expect runtime error: Tuple list index out of range
