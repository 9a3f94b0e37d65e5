"""The error for an import inside a function names the construct."""


def main():
    import math  # expect error: import statements aren't supported; import at the top of the file

    return math.pi
