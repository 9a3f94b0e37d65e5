"""The error for `yield` names the construct."""


def main():
    for i in range(3):
        yield i  # expect error: Yield aren't supported; append to a list and return it
