"""A loop over an enum class visits its members in the order of definition, without aliases."""

from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1  # noqa: PIE796


def main():
    total = 0
    for c in Color:
        total += c.value
        print(c.name)
    # expect: RED
    # expect: GREEN
    print(total)  # expect: 3
    print([c.value for c in Color])  # expect: [1, 2]
