"""A starred target requires another target."""


def main():
    (*a,) = (1, 2)  # expect error: A Starred expression may only appear on the lhs
    return a
