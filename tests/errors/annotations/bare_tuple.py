"""`Tuple` without element types."""

from typing import Tuple


def main(x: Tuple):
    return 1

# error: CompilationError
# Attempted to use Tuple without a contained type. Please add a contained type, e.g. Tuple[int]:
#   File "bare_tuple.py", line 6
# def main(x: Tuple):
#             ~~~~~ <--- HERE
#     return 1
