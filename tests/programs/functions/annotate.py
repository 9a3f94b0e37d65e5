"""`annotate` declares the type of an empty list."""
# rule: annotation.annotate

from typing import Dict, List

import ts


def main():
    xs = ts.jit.annotate(List[int], [])
    d = ts.jit.annotate(Dict[int, str], {})
    xs.append(1)
    d[1] = "x"
    print(xs, d[1])  # expect: [1] x
