"""The error for a function inside a function names the construct."""


def main():
    def inner(x: int):  # expect error: function definitions aren't supported; define the function outside and call it
        return x

    return inner(1)
