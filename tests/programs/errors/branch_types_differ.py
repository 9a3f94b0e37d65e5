"""A variable with a different type in each branch."""
# rule: types.one


def main():
    n = 3
    if n > 2:
        y = 1
    else:
        y = "a"
    return y  # expect error: Type mismatch: y is set to type int in the true branch and type str in the false branch
