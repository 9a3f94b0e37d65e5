"""`in` with a number on its right side."""


def main(x: int):
    return 3 in x

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::__contains__.int_list(int[] l, int item) -> bool:
#   Expected a value of type 'List[int]' for argument 'l' but instead found type 'int'.
#
#   aten::__contains__.str_list(str[] l, str item) -> bool:
#   Expected a value of type 'List[str]' for argument 'l' but instead found type 'int'.
#
#   aten::__contains__.str(Dict(str, t) dict, str key) -> bool:
#   Could not match type int to Dict[str, t] in argument 'dict': Cannot match a dict to int.
#
#   aten::__contains__.int(Dict(int, t) dict, int key) -> bool:
#   Could not match type int to Dict[int, t] in argument 'dict': Cannot match a dict to int.
#
#   aten::__contains__.bool(Dict(bool, t) dict, bool key) -> bool:
#   Could not match type int to Dict[bool, t] in argument 'dict': Cannot match a dict to int.
#
#   aten::__contains__.float(Dict(float, t) dict, float key) -> bool:
#   Could not match type int to Dict[float, t] in argument 'dict': Cannot match a dict to int.
#
#   and 4 other overloads, which match no better.
#
# The original call is:
#   File "contains_of_number.py", line 5
# def main(x: int):
#     return 3 in x
#            ~~~~~~ <--- HERE
# Hint: found int and int
