"""An Optional must be refined before it is used."""

from typing import Optional


def f(x: Optional[int]) -> int:
    return x + 1  # expect error: aten::add


def main():
    return f(1)
