"""A variable that is defined in one branch only."""
# rule: variables.defined


def main():
    n = 3
    if n > 2:
        y = 1
    return y  # expect error: y is not defined in the false branch
