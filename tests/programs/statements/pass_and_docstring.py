"""`pass`, docstrings and expression statements have no effect."""
# rule: statements.pass, statements.expression


def main():
    """Nothing."""
    x = 1
    if x > 0:
        pass
    x + 1
    print(x)  # expect: 1
