"""The condition of a `while` loop does not refine an Optional in the body."""

from typing import Optional


def main(text: Optional[str]) -> int:
    count = 0
    while text is not None:
        count += len(text.strip())
        text = None
    return count

# error: CompilationError
# 'Optional[str]' object has no attribute or method 'strip'.:
#   File "optional_in_while.py", line 9
#     count = 0
#     while text is not None:
#         count += len(text.strip())
#                      ~~~~~~~~~~ <--- HERE
#         text = None
#     return count
# Hint: the value may be None; test it with `is not None` first, which refines its type. The condition of a `while` does not refine the type: write an `assert` in its body
