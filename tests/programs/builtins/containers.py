"""`list`, `any`, `all`, `len`, `sum`, and `range` as a value."""
# rule: builtin.list, builtin.any, builtin.all, builtin.len, builtin.sum, builtin.range


def main():
    print(list(range(3)), list("ab"))  # expect: [0, 1, 2] [a, b] (python: [0, 1, 2] ['a', 'b'])
    print(any([False, True]), all([True, False]))  # expect: True False
    print(sum([1, 2, 3]), sum([0.5, 0.25]))  # expect: 6 0.75
    print(len("abc"), len([1]), len({1: 2}))  # expect: 3 1 1
