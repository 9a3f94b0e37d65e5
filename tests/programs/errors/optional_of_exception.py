"""An exception class cannot be a type, also not in Optional."""

from typing import Optional


class Failed(Exception):
    pass


def f(error: Optional[Failed]) -> int:  # expect error: Unsupported annotation
    return 1


def main():
    return f(None)
