"""pass, docstrings and expressions as statements do nothing."""
# rule: statements.pass, statements.expression


def main():
    """Nothing."""
    x = 1
    if x > 0:
        pass
    x + 1
    print(x)  # expect: 1
