"""A false assert, with its message."""
# rule: statements.assert


def main():
    n = 2
    n += 1
    assert n == 2, "n is off"  # expect runtime error: n is off
