"""Outside of branches and loops, a variable may be assigned a value of another type."""


def main():
    x = 1
    print(x)  # expect: 1
    x = "a"
    print(x)  # expect: a
