"""`enumerate` and `zip`."""
# rule: enumerate, zip, builtin.enumerate


def main():
    names = ["a", "b", "c"]
    for i, name in enumerate(names):
        print(i, name)
    # expect: 0 a
    # expect: 1 b
    # expect: 2 c
    for i, name in enumerate(names, 5):
        print(i, name)
    # expect: 5 a
    # expect: 6 b
    # expect: 7 c
    for x, y in zip([1, 2, 3], names):
        print(x, y)
    # expect: 1 a
    # expect: 2 b
    # expect: 3 c
