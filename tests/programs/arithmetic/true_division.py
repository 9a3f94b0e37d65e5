"""`/` of ints returns a float."""
# rule: arithmetic


def main():
    print(7 / 2, 1 / 4)  # expect: 3.5 0.25
