"""A list literal whose elements match no list type of the union."""

from typing import List, Union


def main() -> Union[List[int], List[str]]:
    return [1.5]

# error: CompilationError
# Union type annotation `Union[List[int], List[str]]` can hold List[int] or List[str], but none of those types match the types of the given list elements, which were unified to float:
#   File "union_list_elements.py", line 7
# def main() -> Union[List[int], List[str]]:
#     return [1.5]
#            ~~~~ <--- HERE
