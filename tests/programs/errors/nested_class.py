"""The error for a class inside a function names the construct."""


def main():
    class A:  # expect error: class definitions aren't supported; define the class outside the function
        pass

    return 1
