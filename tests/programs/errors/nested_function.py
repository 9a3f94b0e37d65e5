"""A def inside a function is refused by name."""


def main():
    def inner(x: int):  # expect error: function definitions aren't supported; define the function outside and call it
        return x

    return inner(1)
