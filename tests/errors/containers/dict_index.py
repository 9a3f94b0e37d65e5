"""A dict is indexed with a key of another type."""

from typing import Dict


def main(x: Dict[str, int]):
    return x[1]

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::__getitem__.Dict_str(Dict(str, t) self, str key) -> t(*):
#   Expected a value of type 'str' for argument 'key' but instead found type 'int'.
#
#   and 7 other overloads, which match no better.
#
# The original call is:
#   File "dict_index.py", line 7
# def main(x: Dict[str, int]):
#     return x[1]
#            ~~~~ <--- HERE
# Hint: found Dict[str, int] and int
