"""A slice object cannot be returned as a value."""


def main():
    return slice(1)  # expect error: Python slice value cannot be used as a value
