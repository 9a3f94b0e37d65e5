"""An empty dict, which is a dict of strings to tensors, for a parameter that is a dict of numbers."""

from typing import Dict


def size(counts: Dict[str, int]) -> int:
    return len(counts)


def main() -> int:
    return size({})

# error: SchemaMatchError
# size(Dict(str, int) counts) -> int:
# Expected a value of type 'Dict[str, int]' for argument 'counts' but instead found type 'Dict[str, Tensor]'.
# :
#   File "empty_dict.py", line 11
# def main() -> int:
#     return size({})
#            ~~~~ <--- HERE
# Hint: `{}` is a dict of tensors unless it is annotated: `x: Dict[str, int] = {}`
