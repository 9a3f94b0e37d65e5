"""The error for a lambda expression names the construct."""


def main():
    f = lambda x: x + 1  # expect error: Lambda aren't supported; define a function outside and call it by name
    return f(1)
