"""The Optional result of `dict.get` is used without a refinement."""

from typing import Dict


def main(counts: Dict[str, int]) -> int:
    return counts.get("a")

# error: CompilationError
# Return value was annotated as having type int but is actually of type Optional[int]:
#   File "dict_get.py", line 7
# def main(counts: Dict[str, int]) -> int:
#     return counts.get("a")
#     ~~~~~~~~~~~~~~~~~~~~ <--- HERE
# Hint: pass a default for missing keys, `d.get(key, value)`, or test the result
