"""Lists with elements of type Any: `list` as an annotation, and `isinstance(x, list)`."""
# rule: any.isinstance

from typing import Any, List


def length(x: Any) -> int:
    if isinstance(x, list):
        return len(x)
    return -1


def main():
    words: List[str] = []
    print(length([1, 2]), length(words), length(["a"]), length(3))  # expect: 2 0 1 -1
# not in PyTorch: there `len(x)` of such a list is 1
