"""A Python object without a TorchScript type."""


class Thing:
    pass


thing = Thing()


def main():
    return thing  # expect error: python value of type 'Thing' cannot be used as a value
