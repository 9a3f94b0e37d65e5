"""A dict literal that expands another dict (`**`)."""

from typing import Dict


def main(x: Dict[str, int]):
    return {**x, "a": 1}

# error: NotSupportedError
# Dict expansion (e.g. `{**dict}`) is not supported:
#   File "dict_expansion.py", line 7
# def main(x: Dict[str, int]):
#     return {**x, "a": 1}
#            ~ <--- HERE
# Hint: copy it with `dict(d)` and add the others with `update`
