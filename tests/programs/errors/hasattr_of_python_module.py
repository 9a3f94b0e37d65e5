"""`hasattr` of a Python module."""

import ts


def main():
    return hasattr(ts, "relu")  # expect error: attribute lookup is not defined on python value of type 'module'
