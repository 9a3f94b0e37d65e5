"""The error for an argument of the wrong type lists the overloads."""

import ts


def main():
    return ts.relu("abc")  # expect error: Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'
