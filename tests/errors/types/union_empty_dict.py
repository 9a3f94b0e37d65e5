"""An empty dict for a union with several dict types."""

from typing import Dict, Union


def main() -> Union[Dict[str, int], Dict[str, str]]:
    return {}

# error: CompilationError
# Cannot assign an empty dict to a variable annotated to be type Union[Dict[str, int], Dict[str, str]] because there are multiple possible Dict type candidates in the Union annotation:
#   File "union_empty_dict.py", line 7
# def main() -> Union[Dict[str, int], Dict[str, str]]:
#     return {}
#            ~ <--- HERE
