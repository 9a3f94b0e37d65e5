"""Comparisons, also chained."""
# rule: comparison


def main():
    x = 5
    print(1 < x < 10, 1 < x < 3, 3 <= x != 4)  # expect: True False True
    print(x == 5, x != 5, x >= 5.0)  # expect: True False True
