"""Two returns with different types."""


def main():
    n = 2
    if n > 1:
        return 1
    return "a"  # expect error: Previous return statement returned a value of type int but this return statement returns a value of type str
