"""An attribute that is read before `__init__` assigns it has no value."""
# rule: class.attributes
# not in PyTorch: it raises an internal error.

from typing import List


class Half:
    def __init__(self, early: bool):
        if early:
            return
        self.items: List[int] = [1]

    def size(self) -> int:
        return len(self.items)  # expect runtime error: object has no value for attribute 'items' yet


def main():
    print(Half(False).size())  # expect: 1
    print(Half(True).size())
