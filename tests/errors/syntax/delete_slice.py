"""`del` of a slice."""

from typing import List


def main(x: List[int]):
    del x[1:2]
    return x

# error: NotSupportedError
# del statements only support deletion at a single index, slicing is not supported (see https://github.com/pytorch/pytorch/issues/31430):
#   File "delete_slice.py", line 7
# def main(x: List[int]):
#     del x[1:2]
#         ~~~~~~ <--- HERE
#     return x
