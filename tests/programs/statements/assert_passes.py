"""An `assert` with a true condition has no effect."""
# rule: statements.assert


def main():
    x = 3
    assert x > 2
    assert x > 2, "never seen"
    print("done")  # expect: done
