"""`warnings.warn` is compiled to a warning of the script."""

import warnings


def main():
    warnings.warn("careful")
    print(1)  # expect: 1
