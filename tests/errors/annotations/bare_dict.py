"""`Dict` without key and value types."""

from typing import Dict


def main(x: Dict):
    return 1

# error: CompilationError
# Attempted to use Dict without contained types. Please add contained type, e.g. Dict[int, int]:
#   File "bare_dict.py", line 6
# def main(x: Dict):
#             ~~~~ <--- HERE
#     return 1
