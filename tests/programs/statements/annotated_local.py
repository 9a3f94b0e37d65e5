"""A local variable with an annotation."""
# rule: statements.annotated

from typing import Dict, List, Optional


def main():
    xs: List[float] = []
    xs.append(1.5)
    counts: Dict[str, int] = {}
    counts["a"] = 1
    maybe: Optional[int] = None
    print(xs, counts, maybe)  # expect: [1.5] {a: 1} None (python: [1.5] {'a': 1} None)
