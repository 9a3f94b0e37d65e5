"""An empty list for a union with several list types."""

from typing import List, Union


def main() -> Union[List[int], List[str]]:
    return []

# error: CompilationError
# Cannot assign an empty list to a variable annotated to be type Union[List[int], List[str]] because there are multiple possible List type candidates in the Union annotation:
#   File "union_empty_list.py", line 7
# def main() -> Union[List[int], List[str]]:
#     return []
#            ~ <--- HERE
