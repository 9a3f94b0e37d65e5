"""`reversed` of lists, ranges, strings, tuples and dicts, also in `zip` and `enumerate`."""
# rule: builtin.reversed
# not in PyTorch: it only takes tensors.


def main():
    xs = [1, 2, 3]
    print([x * 10 for x in reversed(xs)], list(reversed(xs)), xs)  # expect: [30, 20, 10] [3, 2, 1] [1, 2, 3]
    print([i for i in reversed(range(4))])  # expect: [3, 2, 1, 0]
    print([i for i in reversed(range(1, 8, 3))])  # expect: [7, 4, 1]
    print([i for i in reversed(range(7, 1, -2))])  # expect: [3, 5, 7]
    text = ""
    for c in reversed("abc"):
        text += c
    print(text)  # expect: cba
    for k in reversed({1: 2, 3: 4}):
        print(k)
    # expect: 3
    # expect: 1
    for x in reversed((1, "b", False)):
        print(x)
    # expect: False
    # expect: b
    # expect: 1
    a, b = tuple(reversed((1, "b")))
    print(a, b)  # expect: b 1
    for i, x in enumerate(reversed(xs)):
        print(i, x)
    # expect: 0 3
    # expect: 1 2
    # expect: 2 1
    for x, y in zip(reversed(xs), xs):
        print(x, y)
    # expect: 3 1
    # expect: 2 2
    # expect: 1 3
    nothing: list[int] = []
    for x in reversed(nothing):
        print(x)
    for x in reversed(range(0)):
        print(x)
