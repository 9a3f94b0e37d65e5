"""A dict annotation with a list as the key type."""

from typing import Dict, List


def main(x: Dict[List[int], int]):
    return 1

# error: CompilationError
# Cannot create dict for key type 'int[]', only int, float, complex, Tensor, device and string keys are supported:
#   File "dict_key.py", line 6
# def main(x: Dict[List[int], int]):
#             ~~~~~~~~~~~~~~~~~~~~ <--- HERE
#     return 1
