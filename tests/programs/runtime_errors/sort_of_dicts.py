"""Tuples of dicts cannot be sorted."""


def main():
    pairs = [({1: 2}, 1), ({1: 1}, 1)]
    pairs.sort()  # expect runtime error: are not sortable
    print(len(pairs))
