"""A list as a target of an assignment."""


def main():
    [a, b] = (1, 2)  # expect error: unexpected expression on left-hand side of assignment
    return a + b
