"""A function that the module does not have."""

import ts


def main():
    return ts.no_such_operator(3)  # expect error: no_such_operator
