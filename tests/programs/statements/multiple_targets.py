"""Assignments with several targets and to tuples, and swaps."""
# rule: statements.assignment


def main():
    a = b = 3
    a, b = b, a + 1
    print(a, b)  # expect: 3 4
    (c, d), e = (1, 2), 3
    print(c + d + e)  # expect: 6
