"""In a straight line a name may take a value of another type."""


def main():
    x = 1
    print(x)  # expect: 1
    x = "a"
    print(x)  # expect: a
