"""`abs`, `min`, `max`, `round`, `divmod`, `pow`, `int`, `float` and `bool` of numbers."""
# rule: builtin.abs, builtin.min, builtin.max, builtin.round, builtin.divmod, builtin.pow, builtin.int, builtin.float, builtin.bool, conversion.explicit


def main():
    print(abs(-3), abs(-2.5))  # expect: 3 2.5
    print(min(3, 5), max(3, 5), min(2.5, 1.5))  # expect: 3 5 1.5
    print(divmod(7, 2), divmod(-7, 2))  # expect: (3, 1) (-4, 1)
    print(int(3.9), int(-3.9), int(True))  # expect: 3 -3 1
    print(float(3) / 2)  # expect: 1.5
    print(bool(0), bool(2), bool(0.0))  # expect: False True False
    print(round(2.5) == 2.0, round(3.5) == 4.0)  # expect: True True
