"""*args is refused."""


def main(*args):  # expect error: Compiled functions can't take variable number of arguments
    return 1
