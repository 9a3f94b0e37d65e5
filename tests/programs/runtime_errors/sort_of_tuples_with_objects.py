"""Tuples that contain objects without `__lt__` cannot be sorted."""


class Item:
    def __init__(self, n: int):
        self.n = n


def main():
    pairs = [(1, Item(2)), (1, Item(1))]
    pairs.sort()  # expect runtime error: must define a __lt__ method
    print(len(pairs))
