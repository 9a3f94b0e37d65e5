"""`+`, `*`, `==` and `in` of lists."""
# rule: list_repetition, comparison.containers, membership


def main():
    xs = [1, 2] + [3]
    print(xs, [0] * 3, 2 in xs, 5 not in xs)  # expect: [1, 2, 3] [0, 0, 0] True True
    print(xs == [1, 2, 3], xs != [1])  # expect: True True
