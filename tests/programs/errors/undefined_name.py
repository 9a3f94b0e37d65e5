"""An undefined name."""


def main():
    x = 1
    return x + missing  # expect error: undefined value missing
