"""An OrderedDict is a dict, which is ordered by insertion."""
# not in PyTorch: an annotated OrderedDict() is a dict of tensors there.

from collections import OrderedDict
from typing import Dict


def main():
    found: Dict[str, int] = OrderedDict()
    found["b"] = 1
    found["a"] = 2
    for key in found:
        print(key)
    # expect: b
    # expect: a
