"""Tuples that contain a dict cannot be sorted."""

from typing import Dict, List, Tuple


def main():
    pairs: List[Tuple[int, Dict[str, int]]] = [(1, {"a": 1}), (1, {"b": 2})]
    pairs.sort()  # expect runtime error: Contained elements in (int, Dict(str, int)) are not sortable
    print(len(pairs))
