"""An object of Python that the language has no type for."""


class Thing:
    pass


thing = Thing()


def main():
    return thing  # expect error: python value of type 'Thing' cannot be used as a value
