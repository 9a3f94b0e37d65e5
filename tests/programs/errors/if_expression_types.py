"""Both branches of a conditional expression must have one type."""


def main():
    x = 3
    return x if x > 2 else "abc"  # expect error: if-expression's true branch has type int but false branch has type str
