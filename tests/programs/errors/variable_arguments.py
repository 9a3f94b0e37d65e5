"""`*args` parameters are rejected."""


def main(*args):  # expect error: Compiled functions can't take variable number of arguments
    return 1
