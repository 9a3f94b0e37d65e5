"""`set` of a list."""

from typing import List


def main(xs: List[int]):
    return len(set(xs))

# error: SchemaMatchError
# set(Tensor 0) -> Tensor 0:
# Expected a value of type 'Tensor' for argument '0' but instead found type 'List[int]'.
# :
#   File "set_of_list.py", line 7
# def main(xs: List[int]):
#     return len(set(xs))
#                ~~~ <--- HERE
# Hint: scripts do not support sets; use the keys of a dict
