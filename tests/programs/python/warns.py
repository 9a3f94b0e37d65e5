"""Warnings of Python are those of the language."""

import warnings


def main():
    warnings.warn("careful")
    print(1)  # expect: 1
