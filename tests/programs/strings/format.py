"""`format`, `%` and f-strings."""
# rule: formatting, builtin.format


def main():
    x = 3
    print("{} and {}".format(x, "y"))  # expect: 3 and y
    print(f"x={x}!")  # expect: x=3!
    print("%d items of %s" % (x, "z"))  # expect: 3 items of z
