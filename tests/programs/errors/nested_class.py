"""A class inside a function is refused by name."""


def main():
    class A:  # expect error: class definitions aren't supported; define the class outside the function
        pass

    return 1
