"""`slice(...)` in subscripts of lists, strings and tuples, and as a variable."""


def main():
    xs = [0, 1, 2, 3, 4]
    tail = slice(2, None)
    print(xs[tail], xs[slice(2)], xs[slice(None, None, 2)])  # expect: [2, 3, 4] [0, 1] [0, 2, 4]
    print(xs[slice(None)], xs[slice(-2, None)])  # expect: [0, 1, 2, 3, 4] [3, 4]
    print("abcde"[tail], "abcde"[slice(1, 3)])  # expect: cde bc
    print((1, 2, 3)[slice(1, None)] == (2, 3))  # expect: True
