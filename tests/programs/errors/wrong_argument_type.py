"""An argument of the wrong type; the message lists the variants."""

import ts


def main():
    return ts.relu("abc")  # expect error: Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'
