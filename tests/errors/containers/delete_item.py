"""`del` of a dict entry by a key of another type."""

from typing import Dict


def main(x: Dict[str, int]):
    del x[1]
    return x


# torch: 0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/ir/alias_analysis.cpp":623, please report a bug to PyTorch. We don't have an op for aten::Delete but it isn't a special case.  Argument types: Dict(str, int), int,

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::Delete.Dict_str(Dict(str, t)(a!) self, str key) -> ():
#   Expected a value of type 'str' for argument 'key' but instead found type 'int'.
#
#   and 6 other overloads, which match no better.
#
# The original call is:
#   File "delete_item.py", line 7
# def main(x: Dict[str, int]):
#     del x[1]
#         ~~~~ <--- HERE
#     return x
# Hint: found Dict[str, int] and int
