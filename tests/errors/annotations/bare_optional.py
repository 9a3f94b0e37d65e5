"""`Optional` without a contained type."""

from typing import Optional


def main(x: Optional):
    return 1

# error: CompilationError
# Attempted to use Optional without a contained type. Please add a contained type, e.g. Optional[int]:
#   File "bare_optional.py", line 6
# def main(x: Optional):
#             ~~~~~~~~ <--- HERE
#     return 1
