"""Annotations that Python does not evaluate (`from __future__ import annotations`)."""
# rule: annotation.string

from __future__ import annotations

from typing import Dict, List, Optional

import ts as torch


@torch.jit.script
def f(xs: List[int], d: Dict[str, int], y: Optional[int] = None) -> int:
    return len(xs) + len(d) + (0 if y is None else y)


print(f([1, 2], {"a": 1}), f([], {}, 5))  # expect: 3 5
