"""Slices cannot be deleted."""


def main():
    xs = [1, 2, 3]
    del xs[0:1]  # expect error: del statements only support deletion at a single index
    return xs
