"""import inside a function is refused by name."""


def main():
    import math  # expect error: import statements aren't supported; import at the top of the file

    return math.pi
