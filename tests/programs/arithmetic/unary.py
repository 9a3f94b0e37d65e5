"""Unary minus and `not`."""
# rule: unary


def main():
    x = 5
    print(-x, --x, -(-2.5))  # expect: -5 5 2.5
    print(not x, not 0, not True)  # expect: False True False
