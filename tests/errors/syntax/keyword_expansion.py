"""A call with keyword arguments from a dict (`**`)."""

from typing import Dict


def main(x: Dict[str, int]):
    return sum(**x)

# error: NotSupportedError
# keyword-arg expansion is not supported:
#   File "keyword_expansion.py", line 7
# def main(x: Dict[str, int]):
#     return sum(**x)
#                  ~ <--- HERE
# Hint: write the arguments one by one
