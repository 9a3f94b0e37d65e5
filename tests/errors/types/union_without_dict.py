"""A dict literal for a union without a dict type."""

from typing import Union


def main() -> Union[int, str]:
    return {}

# error: CompilationError
# Expected an Union type annotation with an inner Dict type, but got Union[int, str]:
#   File "union_without_dict.py", line 7
# def main() -> Union[int, str]:
#     return {}
#            ~ <--- HERE
