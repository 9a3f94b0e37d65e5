"""A class that refers to itself, shared objects, and loops over linked objects."""
# not in PyTorch: the attribute has the type None there, in spite of its annotation.

from typing import Optional


class Node:
    def __init__(self, value: int):
        self.value = value
        self.next: Optional[Node] = None


def build(n: int) -> Node:
    head = Node(0)
    last = head
    for i in range(1, n):
        node = Node(i * i)
        last.next = node
        last = node
    return head


def total(head: Node) -> int:
    result = 0
    node: Optional[Node] = head
    while node is not None:
        assert node is not None
        result += node.value
        node = node.next
    return result


def main():
    head = build(6)
    print(total(head))  # expect: 55
    second = head.next
    assert second is not None
    second.value = 100
    print(total(head), second.value)  # expect: 154 100
